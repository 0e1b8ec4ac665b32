/**
 * The entry file of a worker. It handles signals before it loads anything else: a terminal and systemd send them to every
 * process of the service, and the supervisor decides what happens. Static imports would all be loaded first.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

await import('./worker-program.ts')

export {}
