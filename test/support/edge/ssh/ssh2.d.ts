/** The little that tests use of the library, which comes without types. */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events'
  import type { Server as NetServer } from 'node:net'
  import type { Duplex } from 'node:stream'

  interface Channel extends Duplex {
    exit(code: number): void
  }
  interface Session extends EventEmitter {
    on(
      event: 'exec',
      listener: (
        accept: () => Channel,
        reject: () => void,
        info: { readonly command: string },
      ) => void,
    ): this
  }
  interface Authentication {
    readonly method: string
    readonly username: string
    readonly key?: { readonly algo: string; readonly data: Buffer }
    readonly signature?: Buffer
    readonly blob?: Buffer
    readonly hashAlgo?: string
    accept(): void
    reject(methods?: readonly string[]): void
  }
  interface Connection extends EventEmitter {
    on(event: 'authentication', listener: (context: Authentication) => void): this
    on(event: 'session', listener: (accept: () => Session) => void): this
    on(event: 'error', listener: (error: Error) => void): this
  }
  interface PublicKey {
    getPublicSSH(): Buffer
    verify(data: Buffer, signature: Buffer, algorithm?: string): boolean
  }
  const library: {
    readonly Server: new (
      options: { readonly hostKeys: readonly string[] },
      onConnection: (connection: Connection) => void,
    ) => NetServer
    readonly utils: {
      parseKey(text: string): PublicKey
      generateKeyPairSync(kind: 'ed25519'): { readonly private: string; readonly public: string }
    }
  }
  // biome-ignore lint/style/noDefaultExport: the library is CommonJS, and this is how Node shows it
  export default library
}
