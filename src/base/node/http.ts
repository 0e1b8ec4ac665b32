/**
 * Node's `http`, for all code that needs more of it than types. An `import` of it reads every export, among them
 * `WebSocket`, whose getter loads Node's whole `fetch`: 50 milliseconds and 12 MiB in each process, for nothing (D-263).
 */
import type Http from 'node:http'

export const http: typeof Http = process.getBuiltinModule('node:http')
