/** HTTP without TLS, as a proxy on the same machine speaks it: in the form of `httpClient`. */
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { CallOptions, HttpClient, Reply } from '../http-client.ts'

export function plainClient(): Pick<HttpClient, 'call'> {
  return { call }
}

function call(
  url: string,
  { method = 'GET', headers = {}, body }: CallOptions = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: headers as Record<string, string>, agent: false })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers, rawHeaders } = response
      readText(response).then(
        (text) => resolve({ status, headers, rawHeaders, text, json: () => JSON.parse(text) }),
        reject,
      )
    })
    sent.end(body)
  })
}
