import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, detailsOf } from './columns.ts'

const ROW = {
  id: 'i1',
  isAdmin: false,
  policy: { id: 'p1', name: 'strict', entity: 'auth-policies', _links: {} },
  roles: ['dev', 'ops'],
  at: '2026-01-31T12:00:00.123Z',
  externalId: null,
  primary: { updb: { allowed: true } },
  keys: [{ kid: 'k' }],
  certPem: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  tags: {},
  _links: { self: { href: './x' } },
}

test('a table shows booleans, times and lists in a readable form', () => {
  const columns = [
    { title: 'ADMIN', path: 'isAdmin', as: 'truth' },
    { title: 'POLICY', path: 'policy.name' },
    { title: 'REFERENCE', path: 'policy' },
    { title: 'ROLES', path: 'roles' },
    { title: 'AT', path: 'at', as: 'time' },
    { title: 'NOTHING', path: 'externalId' },
    { title: 'MISSING', path: 'no.such.thing' },
  ] as const
  assert.deepEqual(cellsOf(columns, ROW), [
    'no',
    'strict',
    'strict',
    'dev, ops',
    '2026-01-31T12:00:00Z',
    '',
    '',
  ])
})

test('one entity is shown whole, with parts in lines of their own and without links', () => {
  assert.deepEqual(detailsOf(ROW), [
    ['id', 'i1'],
    ['isAdmin', 'no'],
    ['policy', 'strict (p1)'],
    ['roles', 'dev, ops'],
    ['at', '2026-01-31T12:00:00.123Z'],
    ['externalId', ''],
    ['primary.updb.allowed', 'yes'],
    ['keys', '{"kid":"k"}'],
    ['certPem', 'PEM, with --json'],
    ['tags', ''],
  ])
})
