import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discover } from './provider.ts'

function discoverFrom(issuer: string) {
  const body = Buffer.from(JSON.stringify({ issuer }))
  const send = async () => ({ status: 200, headers: new Headers(), body })
  return discover({ send }, new URL('https://here.example'), undefined)
}

test('a discovery document of another server is refused, with the address of that server', async () => {
  for (const address of ['https://there.example:1280', 'https://[2001:db8::1]']) {
    await assert.rejects(discoverFrom(`${address}/oidc`), {
      name: 'UnexpectedAnswer',
      message: `the discovery document is that of ${address}, not of https://here.example`,
    })
  }
})

test('what a server sends instead of an address is nowhere in the error', async () => {
  for (const issuer of [
    'https://here.example',
    'urn:example:issuer',
    'not an address',
    'https://here.example"$(id)"',
    `https://${'a'.repeat(300)}.example`,
    'https://there.example\u001b[2J/',
  ]) {
    await assert.rejects(discoverFrom(issuer), {
      name: 'UnexpectedAnswer',
      message: 'the discovery document is that of another issuer',
    })
  }
})
