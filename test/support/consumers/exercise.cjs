// What a program does with the installed libraries, in JavaScript that Node 20 can read. Returns what it has seen.
'use strict'

const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

module.exports = async function exercise({ connect, startRouter }) {
  const { url, ca, username, password, router } = JSON.parse(process.env.EXAMPLE)
  const client = await connect({ url, ca })
  const session = await client.logIn({ method: 'password', username, password })
  const first = await session.accessToken()
  await session.refresh()
  const second = await session.accessToken()
  const response = await session.call('/edge/client/v1/current-identity')
  const { certificate } = await session.certificate()

  const login = await client.beginBrowserLogin()
  login.cancel()
  const cancelled = await login.finish().catch((error) => error.name)

  const gate = startRouter({ controller: url, identity: router, log: QUIET })
  await gate.ready
  const isCutOff = gate.isCutOff()
  await gate.stop()

  await session.logout()
  const ended = await session.refresh().catch((error) => error.name)
  client.close()
  const { name } = (await response.json()).data
  const isRotated = first !== second
  return { name, isRotated, certificate: certificate.split('\n')[0], cancelled, isCutOff, ended }
}
