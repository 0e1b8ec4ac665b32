import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../base/secrets/secret.ts'
import { BATCH_MILLISECONDS, createLog, inBatches, type LogSettings } from './logging.ts'

function logInto(settings: LogSettings) {
  const lines: string[] = []
  return { lines, log: createLog(settings, { write: (line) => lines.push(line) }) }
}

test('a JSON line has the time, the message and every field, and no field of the machine', () => {
  const { lines, log } = logInto({ level: 'info', format: 'json' })
  log.info({ route: '/version', status: 200 }, 'request')
  const { time, ...rest } = JSON.parse(lines[0] ?? '')
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, { level: 30, route: '/version', status: 200, msg: 'request' })
})

test('lines below the level are not written', () => {
  const { lines, log } = logInto({ level: 'warn', format: 'json' })
  log.info({}, 'request')
  log.warn({}, 'adjusted')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['adjusted'],
  )
})

test('R108: a credential shows as [secret], however deep it is', () => {
  for (const format of ['json', 'text'] as const) {
    const { lines, log } = logInto({ level: 'info', format })
    const password = new Secret('marker-4711')
    log.info({ password, inside: { password }, list: [password] }, 'login')
    assert.doesNotMatch(lines.join(''), /4711/)
    assert.match(lines.join(''), /\[secret\]/)
  }
})

test('a text line has the time of day, the level, the message and the fields', () => {
  const { lines, log } = logInto({ level: 'info', format: 'text' })
  log.warn({ route: '/version', status: 200, names: ['a', 'b'] }, 'a request')
  assert.match(
    lines[0] ?? '',
    /^\d\d:\d\d:\d\d\.\d{3} warn {2}a request {2}route=\/version {2}status=200 {2}names=\["a","b"\]\n$/,
  )
})

test('D-338: a request is one readable text line, with its ids only if it failed', () => {
  const { lines, log } = logInto({ level: 'info', format: 'text' })
  const request = { requestId: 'r1', method: 'GET', route: '/version', milliseconds: 1.2 }
  log.info({ ...request, status: 200, address: '127.0.0.1', session: 's1' }, 'request')
  log.info({ ...request, status: 401, address: '::1', code: 'UNAUTHORIZED' }, 'request')
  assert.match(lines[0] ?? '', / info {2}GET \/version 200 {2}1.2 ms {2}from=127.0.0.1\n$/)
  assert.match(
    lines[1] ?? '',
    / info {2}GET \/version 401 {2}1.2 ms {2}from=::1 {2}code=UNAUTHORIZED {2}request=r1\n$/,
  )
})

test('D-338: nothing in a request can forge its text line', () => {
  // Attack: a method or a route pattern with line ends; neither can reach the log today.
  const { lines, log } = logInto({ level: 'info', format: 'text' })
  log.info({ method: 'GET\n12:00', route: '/ \u001b[2J', status: 404, address: 'a\nb' }, 'request')
  assert.match(lines[0] ?? '', /^[^\n]*\n$/)
  assert.doesNotMatch(lines.join('').replaceAll('\n', ''), /\p{C}/u)
})

test('D-338: without a terminal, `auto` is JSON', () => {
  const { lines, log } = logInto({ level: 'info', format: 'auto' })
  log.info({}, 'ready')
  assert.equal(JSON.parse(lines[0] ?? '').msg, 'ready')
})

test('the stack of an error follows its text line', () => {
  const { lines, log } = logInto({ level: 'info', format: 'text' })
  log.error({ err: new Error('disk full') }, 'background work fails')
  assert.match(lines[0] ?? '', /background work fails\nError: disk full\n {4}at /)
})

test('nothing from outside can forge a text line or speak to the terminal', () => {
  // Attack: a caller puts a line end and a made-up log line, or an escape sequence, into a value that is logged.
  const { lines, log } = logInto({ level: 'info', format: 'text' })
  const forged = '/x\n12:00:00.000 info  login  identity=admin'
  const terminal = '/x\u001b[2Jy\u009b1my\u202ez\u2028w'
  log.info({ forged, terminal, spaced: 'a b=c', empty: '' }, `read ${terminal}`)
  log.error({ err: new Error(terminal) }, 'failed')
  assert.match(lines[0] ?? '', /^[^\n]*\n$/)
  assert.match(lines[0] ?? '', /spaced="a b=c" {2}empty=""\n$/)
  for (const line of lines) {
    assert.match(line, /\/x\\u\{1b\}\[2Jy\\u\{9b\}1my\\u\{202e\}z\\u\{2028\}w/)
    assert.doesNotMatch(line.replaceAll('\n', ''), /[\p{C}\p{Zl}]/u)
  }
})

test('D-293: the lines of a moment are one write, and no write is larger than a pipe takes as a whole', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const writes: string[] = []
  const stream = inBatches({ write: (text) => writes.push(text) })
  const line = `${'x'.repeat(999)}\n`
  for (let i = 0; i < 9; i++) stream.write(line)
  t.mock.timers.tick(BATCH_MILLISECONDS)
  assert.deepEqual(
    writes.map((text) => text.length),
    [4_000, 4_000, 1_000],
  )
})

test('an error is written at once, behind what came before it', () => {
  for (const error of ['{"level":50,"msg":"bad"}\n', '12:00:01.123 error bad\n']) {
    const writes: string[] = []
    const stream = inBatches({ write: (text) => writes.push(text) })
    stream.write('{"level":30,"msg":"request"}\n')
    assert.deepEqual(writes, [])
    stream.write(error)
    assert.deepEqual(writes, [`{"level":30,"msg":"request"}\n${error}`])
  }
})

test('D-285: the lines of a moment are written together, and an error at once with those before it', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const writes: string[] = []
  const log = createLog(
    { level: 'info', format: 'json' },
    inBatches({ write: (text) => writes.push(text) }),
  )
  const messages = () =>
    writes.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
    )
  log.info({}, 'one')
  log.info({}, 'two')
  t.mock.timers.tick(BATCH_MILLISECONDS - 1)
  assert.deepEqual(messages(), [])
  t.mock.timers.tick(1)
  assert.deepEqual(messages(), [['one', 'two']])
  log.info({}, 'three')
  log.error({}, 'four')
  assert.deepEqual(messages().at(-1), ['three', 'four'])
})
