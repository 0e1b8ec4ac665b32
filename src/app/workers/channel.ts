/**
 * Messages between the supervisor and one worker: questions with an answer, in both directions, over the IPC channel of
 * Node. It knows nothing of what is asked. A refusal that a caller of the service must hear (`Failure`) survives the
 * way; any other error arrives as its message.
 */
import type { Socket } from 'node:net'
import { Failure, type FailureCode } from '../../errors/catalogue.ts'

/** One kind of message: what it contains, and what its answer contains. */
export type Question<Body = void, Answer = void> = { readonly body: Body; readonly answer: Answer }

type Questions = { readonly [name: string]: Question<unknown, unknown> }

export type Handlers<Q extends Questions> = {
  readonly [Name in keyof Q]: (
    body: Q[Name]['body'],
    socket: Socket | undefined,
  ) => Q[Name]['answer'] | Promise<Q[Name]['answer']>
}

export interface Channel<Theirs extends Questions> {
  /** Rejects if the other side refuses, fails or is gone. */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    body: Theirs[Name]['body'],
    socket?: Socket,
  ): Promise<Theirs[Name]['answer']>
  /** Resolves when the other side is gone. */
  readonly closed: Promise<void>
}

/** What `process` and a forked process have in common. */
export interface Peer {
  send?(
    message: unknown,
    handle: Socket | undefined,
    options: { readonly keepOpen: boolean },
    callback: (error: Error | null) => void,
  ): boolean
  readonly connected: boolean
  on(event: 'message', listener: (message: unknown, handle: unknown) => void): unknown
  once(event: 'disconnect' | 'close', listener: () => void): unknown
}

type Message =
  | { readonly ask: string; readonly id: number; readonly body: unknown }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: CarriedFailure }
  | { readonly id: number; readonly error: { readonly name: string; readonly message: string } }

interface CarriedFailure {
  readonly code: FailureCode
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined
}

/** The other side is gone, so nothing will answer. */
export class ChannelClosed extends Error {
  constructor() {
    super('the other process has ended')
    this.name = 'ChannelClosed'
  }
}

export function openChannel<Mine extends Questions, Theirs extends Questions>(
  peer: Peer,
  handlers: Handlers<Mine>,
): Channel<Theirs> {
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  const closed = Promise.withResolvers<void>()
  let count = 0

  function post(message: Message, socket?: Socket): void {
    // The socket stays open here too, until the other side has it: it may die on the way.
    peer.send?.(message, socket, { keepOpen: true }, (error) => {
      if (error !== null && 'ask' in message) settle(message.id)?.reject(new ChannelClosed())
    })
  }

  function settle(id: number): PromiseWithResolvers<unknown> | undefined {
    const question = asked.get(id)
    asked.delete(id)
    return question
  }

  async function answer(
    message: Extract<Message, { ask: string }>,
    socket: Socket | undefined,
  ): Promise<void> {
    const { id } = message
    try {
      const handler = handlers[message.ask as keyof Mine]
      if (handler === undefined) throw new Error(`there is no message ${message.ask}`)
      post({ id, answer: await handler(message.body, socket) })
    } catch (error) {
      post({ id, ...carried(error) })
    }
  }

  peer.on('message', (received, handle) => {
    const message = received as Message
    if ('ask' in message) void answer(message, handle as Socket | undefined)
    else if ('failure' in message) settle(message.id)?.reject(revived(message.failure))
    else if ('error' in message) {
      const error = new Error(message.error.message)
      error.name = message.error.name
      settle(message.id)?.reject(error)
    } else settle(message.id)?.resolve(message.answer)
  })
  function end(): void {
    for (const id of [...asked.keys()]) settle(id)?.reject(new ChannelClosed())
    closed.resolve()
  }
  peer.once('disconnect', end)
  // Before `disconnect`, Node waits until the other side has confirmed the last socket, and a killed process never does.
  peer.once('close', end)

  return {
    async ask(name, body, socket) {
      if (!peer.connected) throw new ChannelClosed()
      count += 1
      const question = Promise.withResolvers<unknown>()
      asked.set(count, question)
      post({ ask: name, id: count, body }, socket)
      return question.promise
    },
    closed: closed.promise,
  }
}

function carried(error: unknown) {
  if (error instanceof Failure) {
    const { code, detail, retryAfterSeconds } = error
    return { failure: { code, detail, retryAfterSeconds } }
  }
  const { name = 'Error', message = String(error) } = error as Partial<Error>
  return { error: { name, message } }
}

function revived({ code, detail, retryAfterSeconds }: CarriedFailure): Failure {
  return new Failure(code, {
    ...(detail === undefined ? {} : { detail }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}
