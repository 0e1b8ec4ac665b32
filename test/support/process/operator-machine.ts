/**
 * A machine for the pages of those who run the service: its folders are below a temporary one, `npm root --global` has the
 * package there, and what needs root or systemd has a stand-in. `systemctl` starts what the unit says, with the variables that
 * the unit names, and starts it again after exit code 75; `runuser` runs the command as whoever is here.
 */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../service.ts'

export interface OperatorMachine {
  /** Where a path of the machine is here. */
  at(path: string): string
  /** For `runGuide`: every folder of the machine that the page may name, as far as it does. */
  replace(page: string): Promise<Readonly<Record<string, string>>>
  readonly environment: Readonly<Record<string, string>>
  /** Lines for `before`: what docs/install.md does, until the service answers. */
  installed(address: string): string
}

const FOLDERS = [
  '/etc/systemd/system',
  '/etc/latchkey',
  '/var/lib/latchkey',
  '/var/backups/latchkey',
]
const UNITS = new URL('../../../deploy/systemd/', import.meta.url)

export async function operatorMachine(t: TestContext): Promise<OperatorMachine> {
  const root = await temporaryFolder(t)
  const at = (path: string) => join(root, path)
  const packaged = at('/usr/lib/node_modules/latchkey/deploy/systemd')
  for (const folder of ['/etc/systemd/system', '/var/backups/latchkey', '/stand-ins', '/var/lib']) {
    await mkdir(at(folder), { recursive: true })
  }
  await mkdir(packaged, { recursive: true })
  for (const name of await readdir(UNITS)) {
    await writeFile(join(packaged, name), moved(await readFile(new URL(name, UNITS), 'utf8'), at))
  }
  for (const [name, script] of Object.entries(standIns(at))) {
    await writeFile(at(`/stand-ins/${name}`), `#!/bin/sh\n${script}`)
    await chmod(at(`/stand-ins/${name}`), 0o755)
  }
  return {
    at,
    async replace(page) {
      const text = await readFile(new URL(`../../../${page}`, import.meta.url), 'utf8')
      const named = FOLDERS.filter((folder) => text.includes(folder))
      return Object.fromEntries(named.map((folder) => [folder, at(folder)]))
    },
    environment: {
      PATH: `${at('/stand-ins')}:${process.env['PATH']}`,
      npm_config_prefix: at('/usr'),
    },
    installed: (address) => `
mkdir -m 700 '${at('/etc/latchkey')}'
echo LATCHKEY_ADDRESS=${address} > '${at('/etc/latchkey/environment')}'
cp '${packaged}/latchkey.service' '${at('/etc/systemd/system')}'
systemctl start latchkey
curl -s --retry 60 --retry-delay 1 --retry-connrefused --cacert '${at('/var/lib/latchkey/pki/ca.pem')}' https://${address}/version
`,
  }
}

function moved(unit: string, at: (path: string) => string): string {
  return unit
    .replaceAll('/usr/local/bin/latchkey', 'latchkey')
    .replaceAll('/var/lib/latchkey', at('/var/lib/latchkey'))
    .replaceAll('/var/backups/latchkey', at('/var/backups/latchkey'))
    .replaceAll('/etc/latchkey', at('/etc/latchkey'))
}

function standIns(at: (path: string) => string): Readonly<Record<string, string>> {
  return {
    chown: ':\n',
    useradd: ':\n',
    userdel: ':\n',
    runuser: 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n',
    journalctl: `cat '${at('/journal')}'\n`,
    systemctl: `
units='${at('/etc/systemd/system')}' unit=latchkey pid='${at('/main-pid')}'
value() { sed -n "s/^$1=-*//p" "$units/$unit.service"; }
variables() { set -a; if [ -e "$(value EnvironmentFile)" ]; then . "$(value EnvironmentFile)"; fi; }
up() {
  (
    variables
    again=75
    while [ $again -eq 75 ] && ! [ -e "$pid.stop" ]; do
      $(value ExecStart) < /dev/null >> '${at('/journal')}' 2>&1 &
      echo $! > "$pid"
      again=0
      wait $! || again=$?
    done
    rm "$pid"
  ) > /dev/null 2>&1 &
}
down() {
  : > "$pid.stop"
  told=
  while [ -e "$pid" ]; do
    main=$(cat "$pid" 2> /dev/null)
    # Once each: a second signal means at once. It may be on its way to a start by itself.
    # And it may have ended just now, with its file gone.
    if [ -n "$main" ] && [ "$main" != "$told" ]; then kill -TERM "$main" 2> /dev/null; told=$main; fi
    sleep 0.05
  done
  rm "$pid.stop"
}
case "$*" in
  'daemon-reload') ;;
  'start latchkey' | 'enable --now latchkey') up ;;
  'stop latchkey' | 'disable --now latchkey') down ;;
  'restart latchkey') down; up ;;
  'enable --now latchkey-backup.timer') test -e "$units/latchkey-backup.timer" ;;
  'start latchkey-backup')
    unit=latchkey-backup
    variables
    set -ef
    eval "$(value ExecStart | sed 's/%%/%/g')" >> '${at('/journal')}' 2>&1
    ;;
  'reload latchkey') kill -HUP "$(cat "$pid")" ;;
  *) echo "systemctl: no stand-in for $*" >&2; exit 64 ;;
esac
`,
  }
}
