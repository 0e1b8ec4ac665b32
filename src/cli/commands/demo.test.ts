import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Io, Misuse } from '../terminal/io.ts'
import { runDemo } from './demo.ts'

test('what is not a port is refused before anything is printed or created', async () => {
  for (const port of ['0', '65536', '-1', '01280', '1e3', ' 1280', 'http']) {
    // Whatever it would say needs more than this.
    await assert.rejects(
      runDemo({ port }, {} as Io),
      new Misuse('--port must be a number from 1 to 65535'),
    )
  }
})
