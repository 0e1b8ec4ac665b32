import type { TestContext } from 'node:test'
import { connectRaw } from '../edge/raw-connection.ts'
import type { ChildService } from '../process/child-service.ts'
import { ADMIN } from '../service.ts'
import { beginLogin } from './login.ts'

/** A login whose password is on its way: everything is sent but the end of the body. */
export async function beginSlowLogin(t: TestContext, service: ChildService) {
  const login = await beginLogin(service)
  const { authRequestId } = login
  const body = JSON.stringify({ authRequestId, ...ADMIN })
  const connection = await connectRaw(service)
  t.after(() => connection.socket.destroy())
  const head = [
    'POST /oidc/login/username HTTP/1.1',
    `host: ${new URL(service.baseUrl).host}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  connection.send(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -10)}`)
  return { ...login, connection, finish: () => connection.send(body.slice(-10)) }
}
