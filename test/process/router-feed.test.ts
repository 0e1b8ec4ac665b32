/** A service with routers connected stops at once: a feed never ends by itself, so the end has to end it. D-42. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enrollRouter, openFeedAt } from '../support/edge/feed-client.ts'
import { administrate } from '../support/management.ts'
import { startChild } from '../support/process/child-service.ts'

test('SIGTERM ends the feeds of routers in good order and does not wait for them', async (t) => {
  const service = await startChild(t)
  const { certificate } = await enrollRouter(t, await administrate(service))
  const feed = await openFeedAt(t, service.port, service.ca, certificate)
  await feed.line(({ type }) => type === 'ready', 'ready')
  const { code, stderr } = await service.stop()
  assert.equal(code, 0)
  assert.match(stderr, /"msg":"stopped"/)
  // The drain would cut it after ten seconds, in the middle of the response.
  assert.equal(await feed.closed, 'finished')
})
