/** All commands. */
import { ADMINISTRATOR_COMMANDS } from './administrator-commands.ts'
import { type Command, command } from './command.ts'
import { PERSON_COMMANDS } from './person-commands.ts'
import { SERVICE_COMMANDS } from './service-commands.ts'

const COMPLETION = command({
  words: 'completion',
  what: 'print a script that makes a shell complete commands and options',
  audience: 'person',
  operands: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
  options: {},
  examples: [
    'source <(latchkey completion bash)',
    'latchkey completion fish > ~/.config/fish/completions/latchkey.fish',
  ],
  load: async () => {
    const { printCompletion } = await import('../completion/completion.ts')
    return (_values, io, [shell = '']) => printCompletion(COMMANDS, shell, io)
  },
})

export const COMMANDS: readonly Command[] = [
  ...PERSON_COMMANDS,
  COMPLETION,
  ...ADMINISTRATOR_COMMANDS,
  ...SERVICE_COMMANDS,
]
