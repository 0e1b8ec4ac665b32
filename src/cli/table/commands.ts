/** All commands. */
import { ACTION_COMMANDS } from '../admin/action-commands.ts'
import { ENTITY_COMMANDS } from '../admin/entities/entity-commands.ts'
import { SESSION_OPTIONS } from '../contexts/session-options.ts'
import { type Command, commandFor, NAMED_ENTITIES } from './command.ts'
import { PERSON_COMMANDS } from './person-commands.ts'
import { SERVICE_COMMANDS } from './service-commands.ts'

const command = commandFor('person')

const COMPLETION = command({
  words: 'completion',
  what: 'print a script that makes a shell complete commands, options and names',
  operands: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
  examples: [
    'source <(latchkey completion bash)',
    'latchkey completion fish > ~/.config/fish/completions/latchkey.fish',
  ],
  load: async () => {
    const { printCompletion } = await import('../completion/completion.ts')
    return (_values, io, [shell = '']) => printCompletion(COMMANDS, shell, io)
  },
})

const NAMES = command({
  words: 'completion names',
  what: 'print the names that a shell offers, from the server; nothing if it cannot be asked',
  operands: [{ name: 'ENTITY', choices: NAMED_ENTITIES }],
  options: {
    prefix: { value: 'TEXT', what: 'only names that begin with this' },
    context: SESSION_OPTIONS.context,
  },
  examples: ['latchkey completion names identity --prefix al'],
  load: async () => (await import('../completion/names.ts')).printNames,
})

export const COMMANDS: readonly Command[] = [
  ...PERSON_COMMANDS,
  COMPLETION,
  NAMES,
  ...ENTITY_COMMANDS,
  ...ACTION_COMMANDS,
  ...SERVICE_COMMANDS,
]
