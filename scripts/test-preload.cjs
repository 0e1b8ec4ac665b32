// Loaded into each process of tests before them. node --test follows every promise, so that it can tell which test an
// uncaught exception belongs to. That takes up to a fifth of the CPU time of our tests, so this turns it off (D-334), and
// sends the exceptions to the parent process instead, which knows the current file. Only versions of Node that can leave
// promises out have the option; with others, nothing changes.
const { createHook } = require('node:async_hooks')
const { inspect } = require('node:util')
const { isMainThread } = require('node:worker_threads')

const example = createHook({ trackPromises: false })
const leavesPromisesOut = Object.getOwnPropertySymbols(example).find(
  (name) => example[name] === true,
)

if (isMainThread && leavesPromisesOut !== undefined) {
  const [hooks] = require('internal/async_hooks').getHookArrays()
  for (const hook of [...hooks]) {
    hook.disable()
    hook[leavesPromisesOut] = true
    hook.enable()
  }
  process.on('uncaughtExceptionMonitor', (error) => {
    process.send?.({ uncaught: inspect(error, { depth: 10 }) })
  })
}
