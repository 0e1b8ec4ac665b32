/**
 * `latchkey/testing`: a controller for the tests of clients, which behaves until a scenario begins.
 * docs/testing-clients.md.
 */
export { BAD_DAYS, type BadDay, SCENARIO_NAMES, type ScenarioName } from './bad-days.ts'
export { type FakeServer, type FakeServerOptions, startFakeServer } from './fake-server.ts'
export type { Credentials } from './people.ts'
export { type Moment, readScript, type ScriptStep } from './script.ts'
