/**
 * An SSH server behind a gateway, with one user who has a key. Commands are not run: it answers `echo` with its words, and
 * `cat` with its input.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import ssh2 from 'ssh2'

export interface SshService {
  readonly port: number
  /** What the client trusts it by: the part of a line of `known_hosts` after the name. */
  readonly hostKey: string
  /** In the format of OpenSSH. */
  readonly userKey: string
  readonly commands: readonly string[]
}

export async function startSshService(t: TestContext, username: string): Promise<SshService> {
  const host = ssh2.utils.generateKeyPairSync('ed25519')
  const user = ssh2.utils.generateKeyPairSync('ed25519')
  const known = ssh2.utils.parseKey(user.public)
  const commands: string[] = []
  const server = new ssh2.Server({ hostKeys: [host.private] }, (connection) => {
    // The client may leave at any time.
    connection.on('error', () => undefined)
    connection.on('authentication', (context) => {
      const { key, blob, signature } = context
      const isKnown =
        context.username === username && key?.data.equals(known.getPublicSSH()) === true
      if (!isKnown) return context.reject(['publickey'])
      // Without a signature the client only asks whether the key would do (RFC 4252 §7).
      const isProven =
        signature === undefined || (blob !== undefined && known.verify(blob, signature))
      if (isProven) context.accept()
      else context.reject()
    })
    connection.on('session', (accept) => {
      accept().on('exec', (acceptCommand, _, { command }) => {
        commands.push(command)
        const channel = acceptCommand()
        const finish = () => {
          channel.exit(0)
          channel.end()
        }
        if (command === 'cat') {
          channel.on('data', (chunk: Buffer) => channel.write(chunk))
          channel.on('end', finish)
          return
        }
        channel.write(`${command.replace(/^echo /, '')}\n`)
        finish()
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { port, hostKey: host.public, userKey: user.private, commands }
}
