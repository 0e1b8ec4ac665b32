/** What is filled in for variables, and what is not taken for one. D-43. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEnvironment } from './environment.ts'
import { fillIn } from './variables.ts'

const { variable } = readEnvironment({
  HOST: 'db.example.com',
  EMPTY: '',
  NESTED: `\${HOST}`,
  DOLLARS: '$& $1 $$',
  YAML: 'info\nbrand: stolen',
})

const FILLED: readonly [string, string][] = [
  [`\${HOST}`, 'db.example.com'],
  [`postgres://\${HOST}:5432/\${HOST}`, 'postgres://db.example.com:5432/db.example.com'],
  [`a\${EMPTY}b`, 'ab'],
  [`$\${HOST}`, `\${HOST}`],
  [`$\${`, `\${`],
  ['$HOST $ $$ {HOST}', '$HOST $ $$ {HOST}'],
  [`\${NESTED}`, `\${HOST}`],
  [`\${DOLLARS}`, '$& $1 $$'],
  [`\${YAML}`, 'info\nbrand: stolen'],
]

for (const [written, expected] of FILLED) {
  test(`${written} becomes ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(fillIn({ key: [written] }, variable), {
      tree: { key: [expected] },
      problems: [],
    })
  })
}

test('each unset variable of a value is a problem with the path of the value', () => {
  const { problems } = fillIn({ web: [{ name: `\${NO_NAME}-\${NOT_SET}` }] }, variable)
  assert.deepEqual(problems, [
    { path: 'web[0].name', message: 'needs the environment variable NO_NAME, which is not set' },
    { path: 'web[0].name', message: 'needs the environment variable NOT_SET, which is not set' },
  ])
})

for (const written of [`\${`, `\${HOST`, `\${}`, `\${1ST}`, `\${A-B}`, `\${ HOST }`]) {
  test(`${written} is not a variable and must be escaped`, () => {
    assert.deepEqual(fillIn({ db: written }, variable).problems, [
      {
        path: 'db',
        message: `has a \${ that begins no \${VARIABLE}; write $\${ for a plain \${`,
      },
    ])
  })
}

test('keys, numbers and other values stay as they are', () => {
  const tree = { [`\${HOST}`]: 1, flag: true, nothing: null, list: [1.5] }
  assert.deepEqual(fillIn(tree, variable), { tree, problems: [] })
})

test('a variable named like a member of every object is not set', () => {
  const { problems } = fillIn({ db: `\${toString}` }, variable)
  assert.equal(problems[0]?.message, 'needs the environment variable toString, which is not set')
})
