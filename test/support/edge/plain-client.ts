/** HTTP without TLS, as a proxy on the same machine speaks it: in the form of `httpClient`. */
import { request } from 'node:http'
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
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          text,
          json: () => JSON.parse(text),
        }),
      )
    })
    sent.end(body)
  })
}
