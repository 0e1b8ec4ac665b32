/** The commands for administrators. docs/cli.md. */
import { ACTION_COMMANDS } from '../admin/action-commands.ts'
import { ENTITY_COMMANDS } from '../admin/entities/entity-commands.ts'
import type { Command } from './command.ts'

export const ADMINISTRATOR_COMMANDS: readonly Command[] = [...ENTITY_COMMANDS, ...ACTION_COMMANDS]
