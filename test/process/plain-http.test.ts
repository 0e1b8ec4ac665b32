/** Plain HTTP at the port of the service gets a sentence and a redirect, with one process and with several: D-339. */
import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { useWorkers } from '../support/process/child-home.ts'
import { startChild } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { startService } from '../support/service.ts'

function ask(port: number, host: string, method = 'GET') {
  return new Promise<http.IncomingMessage & { text: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/account?a=b', method, headers: { host } }
    const request = http.request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve(Object.assign(response, { text })))
    })
    request.on('error', reject).end()
  })
}

for (const workers of [1, 2]) {
  test(`plain HTTP is redirected with ${workers} worker(s)`, async (t) => {
    const home = await preparedHome(t)
    if (workers > 1) await useWorkers(home, workers)
    const service = await (workers > 1 ? startChild(t, { home }) : startService(t, { home }))
    const port = Number(new URL(service.baseUrl).port)
    const reply = await ask(port, `127.0.0.1:${port}`)
    assert.equal(reply.statusCode, 308)
    assert.equal(reply.headers.location, `https://127.0.0.1:${port}/account?a=b`)
    assert.equal(reply.text, `This port speaks HTTPS. Use https://127.0.0.1:${port} instead.\n`)
    const foreign = await ask(port, 'evil.example')
    assert.equal(foreign.headers.location, `https://localhost:${port}/account?a=b`)
    const posted = await ask(port, `localhost:${port}`, 'POST')
    assert.equal(posted.statusCode, 400)
    assert.equal(posted.headers.location, undefined)
    assert.equal((await service.call('/version')).status, 200)
  })
}
