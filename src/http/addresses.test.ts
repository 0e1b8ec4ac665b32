import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Address, borrowedMethods, findAmong } from './addresses.ts'

const address = (url: string, ...allow: string[]): Address => ({
  url,
  allow,
  face: { json: 'api', pages: false },
})
const ALL = address('/things', 'GET', 'HEAD', 'POST')
const ONE = address('/things/:id', 'GET', 'HEAD', 'DELETE')
const END = address('/things/end-all', 'POST')

test('an address is found by a path, as Fastify would find it', () => {
  const find = findAmong(() => [ALL, ONE, END])
  assert.equal(find('/things?filter=x'), ALL)
  assert.equal(find('/%74hings'), ALL)
  assert.equal(find('/things/7'), ONE)
  assert.equal(find('/things/end-all'), END)
  for (const path of ['/', '/Things', '/things/7/8', '*', '', '/%zz']) {
    assert.equal(find(path), undefined, path)
  }
})

test('addresses are collected when the first one is looked for, and once', () => {
  let times = 0
  const find = findAmong(() => {
    times += 1
    return [ALL]
  })
  assert.equal(times, 0)
  find('/things')
  find('/nothing')
  assert.equal(times, 1)
})

test('an address does not borrow the methods of another one whose last part stands for any word', () => {
  assert.deepEqual(borrowedMethods([ALL, ONE, END]), [
    { address: END, methods: ['GET', 'HEAD', 'DELETE'] },
  ])
})

test('an address that has all methods of the other one borrows none', () => {
  assert.deepEqual(borrowedMethods([ONE, address('/things/mine', 'GET', 'HEAD', 'DELETE')]), [])
})
