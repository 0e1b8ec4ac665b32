/**
 * The environment of the process, read only in this file. It knows which variables exist and what they are for; the
 * callers decide what they mean for a start. Variables that hold a secret are removed from it, so that no child process
 * inherits them (D-243).
 */
import { isAbsolute } from 'node:path'
import { Secret } from '../base/secrets/secret.ts'

export interface Environment {
  /** LATCHKEY_HOME. An empty variable counts as unset, for this and the next two. */
  readonly home: string | undefined
  /** LATCHKEY_ADDRESS, not yet checked. */
  readonly address: string | undefined
  /** LATCHKEY_ADMIN_PASSWORD */
  readonly adminPassword: Secret | undefined
  /** The value of a variable that the configuration names; undefined if it is not set. */
  variable(name: string): string | undefined
  /** Removes a variable that holds a secret from the environment of the process. `variable` still returns it. */
  conceal(name: string): void
  /** Set variables that begin with LATCHKEY_ and are neither ours nor among these. */
  unknownVariables(known: readonly string[]): readonly string[]
  /** Everything that a worker of this service may read too: all but the first password. */
  forWorkers(): Readonly<Record<string, string>>
}

/** If no home is named. Relative to the working directory. */
export const DEFAULT_HOME = 'latchkey-data'
/** If no address is named for a new home. */
export const DEFAULT_ADDRESS = 'localhost:1280'

/** Our own variables, for `docs/configuration.md`. */
export const VARIABLES = {
  LATCHKEY_HOME: `The home folder, if \`--home\` is not given. Default \`./${DEFAULT_HOME}\`.`,
  LATCHKEY_ADDRESS:
    `The address for a new \`controller.yml\`; default \`${DEFAULT_ADDRESS}\`. If the file exists and none ` +
    'of its listeners has this address, it replaces those of the first listener for this run, and the ' +
    'service says so (D-337).',
  LATCHKEY_ADMIN_PASSWORD:
    "The first administrator's password. Used only when the administrator is created, and later starts " +
    'say that it is not; without it, a random one is generated. No child process inherits it.',
} as const

const PREFIX = 'LATCHKEY_'

type Variables = Readonly<Record<string, string | undefined>>

/** The environment as it was when the program started. */
export const AT_START: Variables = { ...process.env }

// Immediately, not when it is first read: a command that never reads it may start a browser.
conceal('LATCHKEY_ADMIN_PASSWORD')

export function readEnvironment(variables: Variables = AT_START): Environment {
  const variable = (name: string): string | undefined =>
    // Names come from a file: `toString` must not find an inherited property.
    Object.hasOwn(variables, name) ? variables[name] : undefined
  const ours = (name: keyof typeof VARIABLES): string | undefined => variable(name) || undefined
  const password = ours('LATCHKEY_ADMIN_PASSWORD')
  return {
    home: ours('LATCHKEY_HOME'),
    address: ours('LATCHKEY_ADDRESS'),
    adminPassword: password === undefined ? undefined : new Secret(password),
    variable,
    conceal,
    unknownVariables: (known) =>
      Object.keys(variables).filter(
        (name) =>
          name.startsWith(PREFIX) && !Object.hasOwn(VARIABLES, name) && !known.includes(name),
      ),
    forWorkers: () => {
      const { LATCHKEY_ADMIN_PASSWORD: _, ...others } = variables
      const isSet = (pair: [string, string | undefined]): pair is [string, string] =>
        pair[1] !== undefined
      return Object.fromEntries(Object.entries(others).filter(isSet))
    },
  }
}

/** The environment of a child process: that of this one, without what was concealed, and these, if not set or always. */
export function childEnvironment(
  more: Readonly<Record<string, string>>,
  ifNotSet: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  return { ...ifNotSet, ...process.env, ...more }
}

function conceal(name: string): void {
  delete process.env[name]
}

/** What the command line reads from its environment; none of these variables is ours. */
export interface UserEnvironment {
  /** XDG_CONFIG_HOME, which counts only if it is absolute, or APPDATA on Windows. */
  readonly configFolder: string | undefined
  /** NO_COLOR is unset or empty (https://no-color.org). */
  readonly wantsColour: boolean
  /** DISPLAY or WAYLAND_DISPLAY: a window can be opened. */
  readonly hasDisplay: boolean
  /** SSH_CONNECTION or SSH_TTY: a user works here from another machine. */
  readonly isRemote: boolean
}

export function readUserEnvironment(variables: Variables = AT_START): UserEnvironment {
  const { XDG_CONFIG_HOME: xdg = '', APPDATA: appData, NO_COLOR: noColour = '' } = variables
  return {
    configFolder: isAbsolute(xdg) ? xdg : appData || undefined,
    wantsColour: noColour === '',
    hasDisplay: Boolean(variables['DISPLAY'] || variables['WAYLAND_DISPLAY']),
    isRemote: Boolean(variables['SSH_CONNECTION'] || variables['SSH_TTY']),
  }
}
