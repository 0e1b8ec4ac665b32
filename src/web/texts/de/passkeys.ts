import type { PASSKEYS as EN } from '../en/passkeys.ts'

export const PASSKEYS: Readonly<Record<keyof typeof EN, string>> = {
  'signIn.passkey': 'Passkey verwenden',
  'code.passkeyInstead': 'Stattdessen einen Passkey verwenden',
  'passkey.title': 'Passkey verwenden',
  'passkey.message':
    'Bestätigen Sie mit Fingerabdruck, Gesicht, PIN oder Sicherheitsschlüssel Ihres Passkeys.',
  'passkey.use': 'Passkey verwenden',
  'passkey.appInstead': 'Stattdessen eine Authenticator-App verwenden',
  'passkey.recovery': 'Wiederherstellungscode verwenden',
  'passkey.recoveryCode': 'Wiederherstellungscode',
  'passkey.wrongRecoveryCode':
    'Dieser Wiederherstellungscode ist falsch oder wurde schon verwendet. Versuchen Sie einen anderen.',
  'passkey.failed.get':
    'Der Passkey wurde nicht verwendet. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.',
  'passkey.failed.create': 'Der Passkey wurde nicht erstellt. Versuchen Sie es noch einmal.',
  'passkey.exists':
    'Dieses Gerät hat schon einen Passkey für Ihr Konto. Verwenden Sie ein anderes Gerät oder einen Sicherheitsschlüssel.',
  'passkey.unsupported':
    'Dieser Browser kann keine Passkeys verwenden. Verwenden Sie einen anderen Browser.',
  'passkey.noScripts':
    'Passkeys brauchen Skripte. Erlauben Sie Skripte für diese Seite, oder verwenden Sie einen anderen Browser.',
  'passkey.elsewhere':
    'Ihre Passkeys wurden unter einer anderen Adresse dieses Dienstes erstellt. Öffnen Sie diese Adresse, oder verwenden Sie einen Wiederherstellungscode.',
  'passkey.refused':
    'Mit diesem Passkey können Sie sich hier nicht anmelden. Melden Sie sich auf andere Weise an.',
  'newPasskey.title': 'Passkey erstellen',
  'newPasskey.message':
    'Zum Anmelden brauchen Sie auch einen Passkey: Fingerabdruck, Gesicht, PIN oder einen Sicherheitsschlüssel anstelle eines Codes.',
  'newPasskey.save':
    'Wenn Sie Ihren Passkey verlieren, können Sie sich mit jedem Code einmal anmelden. Die Codes gelten, sobald der Passkey erstellt ist, und werden nicht noch einmal angezeigt: Bewahren Sie sie sicher auf.',
  'newPasskey.create': 'Passkey erstellen',
  'error.PASSKEY_INVALID.title': 'Passkey nicht angenommen',
  'error.PASSKEY_INVALID.message':
    'Dieser Passkey wurde nicht angenommen. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.',
  'error.PASSKEY_EXISTS.title': 'Passkey schon vorhanden',
  'error.PASSKEY_EXISTS.message':
    'Dieser Passkey ist schon registriert. Verwenden Sie einen anderen.',
  'error.MAX_PASSKEYS_REACHED.title': 'Zu viele Passkeys',
  'error.MAX_PASSKEYS_REACHED.message':
    'Ihr Konto hat so viele Passkeys, wie es haben kann. Entfernen Sie zuerst einen.',
  'error.PASSKEYS_UNAVAILABLE.title': 'Passkeys funktionieren hier nicht',
  'error.PASSKEYS_UNAVAILABLE.message':
    'Passkeys brauchen den Namen dieses Dienstes in der Adresse, keine Zahlen. Öffnen Sie ihn unter seinem Namen und melden Sie sich dort an.',
  'error.FACTOR_NOT_PROVEN.title': 'Zuerst bestätigen',
  'error.FACTOR_NOT_PROVEN.message':
    'Ihr Konto hat schon einen zweiten Faktor. Verwenden Sie ihn, bevor Sie einen weiteren hinzufügen.',
  'overview.passkeys.one': 'Sie haben einen Passkey.',
  'overview.passkeys.other': 'Sie haben {count} Passkeys.',
  'overview.noPasskeys':
    'Mit einem Passkey melden Sie sich mit Fingerabdruck, Gesicht oder PIN an.',
  'page.passkeys': 'Passkeys',
  'passkeys.message':
    'Mit einem Passkey melden Sie sich mit Fingerabdruck, Gesicht, PIN oder Sicherheitsschlüssel an. Entfernen Sie Passkeys, die Sie nicht kennen.',
  'passkeys.none': 'Sie haben noch keine Passkeys.',
  'passkeys.unavailable':
    'Passkeys funktionieren unter dieser Adresse nicht. Öffnen Sie den Dienst unter seinem Namen.',
  'passkeys.add': 'Passkey hinzufügen',
  'passkeys.addMessage':
    'Ihr Browser fragt, wo der Passkey gespeichert wird: auf diesem Gerät, auf einem Telefon oder auf einem Sicherheitsschlüssel.',
  'passkeys.name': 'Name',
  'passkeys.defaultName': 'Passkey',
  'passkeys.created': 'Erstellt',
  'passkeys.used': 'Zuletzt verwendet',
  'passkeys.never': 'nie',
  'passkeys.host': 'Gilt für',
  'passkeys.rename': 'Umbenennen',
  'passkeys.renameLabel': '{name} umbenennen',
  'passkeys.remove': 'Entfernen',
  'passkeys.removeLabel': '{name} entfernen',
  'passkeys.removeMessage':
    'Sitzungen, die damit begonnen wurden, werden abgemeldet. Bestätigen Sie, dass Sie es sind:',
  'passkeys.removeWithPasskey': 'Entfernen, mit einem Passkey bestätigen',
  'passkeys.code': 'Code Ihrer App oder ein Wiederherstellungscode',
  'passkeys.removeWithCode': 'Entfernen, mit dem Code bestätigen',
  'note.passkey-added': 'Ihr Passkey wurde hinzugefügt.',
  'note.passkey-renamed': 'Ihr Passkey wurde umbenannt.',
  'note.passkey-removed': 'Der Passkey wurde entfernt.',
}
