/** On their own, so that the table of commands does not load what logs in. */
export const SESSION_OPTIONS = {
  context: { value: 'NAME', names: 'contexts', what: 'a context other than the current one' },
  json: { what: 'print JSON instead of a table' },
} as const
