/** The instructions of a demo: on the screen, and as the file WALKTHROUGH, which can be pasted into a shell. */
import { fileURLToPath } from 'node:url'
import { shellWord } from '../base/shell-word.ts'
import { type Chapter, chaptersOf, ENV_FILE } from './chapters.ts'
import type { Demo } from './start.ts'

const WALKTHROUGH_FILE = 'WALKTHROUGH'

/** Styles for the screen; in a file they are empty. */
export interface Look {
  heading(text: string): string
  /** A command to paste. */
  line(text: string): string
}

const PLAIN: Look = { heading: (text) => text, line: (text) => text }

/** Returns the lines for the screen, and the files for the folder, by name. */
export function walkthroughOf(demo: Omit<Demo, 'stop'>, look: Look) {
  const { heading } = look
  const chapters = chaptersOf(demo)
  const enter = `cd ${shellWord(demo.folder.path)} && . ./${ENV_FILE}`
  const pasted = (text: string) => text.split('\n').map((part) => `  ${look.line(part)}`)
  const lines = [
    ...overviewOf(demo, look),
    '',
    heading('First, in a second terminal (sh, bash or zsh)'),
    '',
    ...pasted(enter),
    ...chapters.flatMap((chapter, i) => [
      '',
      heading(titleOf(chapter, i)),
      ...chapter.steps.flatMap(({ line, seen }) => [
        '',
        ...pasted(line),
        ...wrapped(seen).map((part, at) => `    ${at === 0 ? '→' : ' '} ${part}`),
      ]),
    ]),
    '',
    ...afterwardsOf(demo, look),
    '',
    heading(
      'To begin, open a second terminal and paste this; then scroll up to 1, or read on there:',
    ),
    '',
    ...pasted(`${enter} && cat ${WALKTHROUGH_FILE}`),
    '',
    heading('Ctrl-C here ends the demo and removes everything.'),
  ]
  const script = [
    ...overviewOf(demo, PLAIN).map(comment),
    '',
    comment('For every terminal in which you try it:'),
    enter,
    ...chapters.flatMap((chapter, i) => [
      '',
      comment(titleOf(chapter, i)),
      ...chapter.steps.flatMap(({ line, seen }) => ['', line, ...wrapped(seen).map(comment)]),
    ]),
    '',
    ...afterwardsOf(demo, PLAIN).map(comment),
  ]
  return {
    lines,
    files: { [WALKTHROUGH_FILE]: textOf(script), [ENV_FILE]: textOf(envOf(demo)) },
  }
}

function overviewOf(demo: Omit<Demo, 'stop'>, { heading }: Look): readonly string[] {
  const { serviceUrl, gatewayUrl, echoUrl, linesUrl, idpUrl, passwords, provisioningUrl, folder } =
    demo
  const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  return [
    heading('What runs'),
    '',
    `  service   ${serviceUrl}`,
    `  gateway   ${gatewayUrl} → ${echoUrl}, which answers with what it gets`,
    `            and → ${linesUrl}, which speaks no HTTP`,
    `  IdP       ${idpUrl}, another identity provider`,
    `  folder    ${folder.path}, with ca.pem, the CA of all of it`,
    '',
    heading('The users'),
    '',
    `  admin   password ${passwords.admin}; the administrator`,
    `  paula   password ${passwords.paula}`,
    `  tina    password ${passwords.tina}, and TOTP with the secret ${secret}`,
    `  tom     password ${passwords.tom}, and TOTP, to be set up at the first login`,
    '  carl    certificate: carl.pem and carl.key',
    '  nora    nothing yet, but an invitation: nora.jwt',
    '  emil    an account at the IdP, and nothing else',
    `  dora    password ${passwords.dora}, and then the IdP too`,
  ]
}

function afterwardsOf(
  { serviceUrl, gatewayUrl }: Omit<Demo, 'stop'>,
  { heading }: Look,
): readonly string[] {
  return [
    heading('And then'),
    '',
    `  the service behind the gateway     ${gatewayUrl}/hello`,
    `  your own account, in the browser   ${serviceUrl}/account`,
    `  the console, as admin              ${serviceUrl}/console`,
    `  every call of the APIs, to read    ${serviceUrl}/edge/client/v1/docs`,
    `                                     ${serviceUrl}/edge/management/v1/docs`,
    '  what the parts log                 service.log, gateway.log',
  ]
}

/** Separate from the user's own contexts: another configuration folder, and the command as it was started here. */
function envOf({ folder }: Pick<Demo, 'folder'>): readonly string[] {
  const program = fileURLToPath(new URL('../../bin/latchkey.js', import.meta.url))
  return [
    comment('For a terminal in which the demo is tried: . ./env'),
    `latchkey() { ${shellWord(process.execPath)} ${shellWord(program)} "$@"; }`,
    `export XDG_CONFIG_HOME=${shellWord(`${folder.path}/config`)}`,
  ]
}

const titleOf = ({ title }: Chapter, index: number) => `${index + 1}. ${title}`

const comment = (line: string) => (line === '' ? '' : `# ${line}`)

const textOf = (lines: readonly string[]) => `${lines.join('\n')}\n`

const WIDTH = 92

function wrapped(text: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
