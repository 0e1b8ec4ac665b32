import type { INVITE as EN } from '../en/invite.ts'

export const INVITE: Readonly<Record<keyof typeof EN, string>> = {
  'link.title': 'Link öffnen',
  'link.message': 'Fügen Sie den Link ein, den Sie erhalten haben, oder den Code an seinem Ende.',
  'link.label': 'Link oder Code',
  'link.submit': 'Weiter',

  'invited.title': 'Passwort wählen',
  'invited.message': 'Sie sind eingeladen, sich als {name} anzumelden.',
  'resetPassword.title': 'Neues Passwort wählen',
  'resetPassword.message':
    'Für das Konto {name}. Ihr altes Passwort gilt danach nicht mehr, und Sie werden überall sonst abgemeldet.',
  'newPassword.username': 'Ihr Benutzername',
  'newPassword.missing': 'Füllen Sie beide Felder aus.',
  'newPassword.submit': 'Speichern und anmelden',
  'newPassword.passkey': 'Speichern und Passkey erstellen',

  'resetMfa.title': 'App oder Passkey ersetzen',
  'resetMfa.message':
    'Für das Konto {name}. Ihre Authenticator-App, Ihre Passkeys und Ihre Wiederherstellungscodes gelten danach nicht mehr, und Sie werden überall abgemeldet. Braucht Ihr Konto eine App oder einen Passkey, richten Sie das gleich neu ein.',
  'resetMfa.missing': 'Geben Sie Ihr Passwort ein.',
  'resetMfa.wrong': 'Das Passwort ist falsch, oder es gab zu viele Fehlversuche.',
  'resetMfa.submit': 'Entfernen und weiter',

  'identityFile.title': 'Ihre Identitätsdatei',
  'identityFile.message':
    'Sie sind als {name} eingeladen. Programme melden sich mit einer Identitätsdatei an.',
  'identityFile.secret':
    'Die Datei enthält einen privaten Schlüssel: Wer sie hat, kann sich als Sie anmelden. Speichern Sie sie dort, wo nur Sie sie lesen können, und senden Sie sie niemandem.',
  'identityFile.submit': 'Datei erstellen',
  'identityFile.scripts':
    'Dieser Browser führt keine Skripte aus und kann die Datei nicht erstellen. Verwenden Sie stattdessen ein Programm.',
  'identityFile.done': 'Ihre Identitätsdatei ist fertig',
  'identityFile.save':
    'Falls Ihr Browser sie nicht gespeichert hat, speichern Sie sie jetzt. Es gibt sie sonst nirgends, und der Link funktioniert kein zweites Mal.',
  'identityFile.again': 'Datei speichern',
  'identityFile.next': 'Melden Sie sich damit an:',
  'identityFile.failed':
    'Die Datei konnte nicht erstellt werden. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut.',
  'identityFile.gone':
    'Dieser Link ist nicht mehr gültig. Bitten Sie Ihre Administration um einen neuen.',

  'ownCertificate.title': 'Zertifikat registrieren',
  'ownCertificate.message':
    'Sie sind als {name} eingeladen, mit einem Zertifikat, das Sie von Ihrer Organisation schon haben. Ein Programm registriert es.',

  'program.title': 'Stattdessen ein Programm verwenden',
  'program.message': 'Speichern Sie die Einladung als Datei und verwenden Sie sie so:',
  'program.save': 'Einladung speichern',
  'program.others': 'Andere Programme, die ein JWT annehmen, verwenden dieselbe Datei.',

  'inviteError.INVALID_ENROLLMENT_TOKEN.title': 'Dieser Link ist ungültig',
  'inviteError.INVALID_ENROLLMENT_TOKEN.message':
    'Er ist unvollständig, wurde zurückgezogen oder durch einen neueren ersetzt. Kopieren Sie den ganzen Link, oder bitten Sie Ihre Administration um einen neuen.',
  'inviteError.ENROLLMENT_EXPIRED.title': 'Dieser Link ist abgelaufen',
  'inviteError.ENROLLMENT_EXPIRED.message': 'Bitten Sie Ihre Administration um einen neuen.',
  'inviteError.ENROLLMENT_USED.title': 'Dieser Link wurde schon verwendet',
  'inviteError.ENROLLMENT_USED.message':
    'Jeder Link gilt einmal. Wenn Sie ihn verwendet haben, melden Sie sich an. Wenn nicht, informieren Sie sofort Ihre Administration.',
  'inviteError.disabled.title': 'Dieses Konto ist gesperrt',
  'inviteError.disabled.message':
    'Der Link funktioniert wieder, sobald Ihre Administration das Konto freigibt.',
  'inviteError.MAX_AUTHENTICATOR_METHODS_REACHED.title': 'Bereits eingerichtet',
  'inviteError.MAX_AUTHENTICATOR_METHODS_REACHED.message':
    'Dieses Konto hat schon, wofür der Link gedacht ist. Melden Sie sich an, oder wenden Sie sich an Ihre Administration.',
  'inviteError.again': 'Link noch einmal einfügen',
  'inviteError.signIn': 'Zur Anmeldung',
}
