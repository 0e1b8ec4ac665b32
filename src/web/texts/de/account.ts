import type { ACCOUNT as EN } from '../en/account.ts'

export const ACCOUNT: Readonly<Record<keyof typeof EN, string>> = {
  'account.pages': 'Seiten des Kontos',
  'account.skip': 'Zum Inhalt springen',
  'account.signOut': 'Abmelden',
  'account.back': 'Zurück zu Ihrem Konto',

  'page.overview': 'Übersicht',
  'page.sessions': 'Sitzungen',
  'page.password': 'Passwort',
  'page.totp': 'Authenticator-App',
  'page.certificates': 'Zertifikat',

  'overview.console': 'Konsole',
  'overview.consoleState':
    'Sie sind Administrator: verwalten Sie Identitäten, Sitzungen und Richtlinien.',
  'overview.signedInAs': 'Angemeldet als {name}.',
  'overview.lastSignIn': 'Letzte Anmeldung: {time}, {program}, {address}.',
  'overview.sessions.one': 'Sie sind nur hier angemeldet.',
  'overview.sessions.other': 'Sie haben {count} offene Sitzungen.',
  'overview.password': 'Sie haben ein Passwort.',
  'overview.noPassword': 'Sie haben kein Passwort.',
  'overview.totp': 'Verbleibende Wiederherstellungscodes: {count}.',
  'overview.totpNoCodes': 'Es sind keine Wiederherstellungscodes mehr übrig. Erstellen Sie neue.',
  'overview.noTotp': 'Mit einer App genügt Ihr Passwort allein nicht mehr, um sich anzumelden.',
  'overview.certificate': 'Gültig bis {time}.',
  'overview.certificateExpired': 'Abgelaufen am {time}.',
  'overview.noCertificate': 'Sie haben kein Zertifikat.',

  'sessions.message':
    'Alles, was mit Ihrem Konto angemeldet ist. Melden Sie jede Sitzung ab, die Sie nicht kennen.',
  'sessions.current': 'Dieser Browser',
  'sessions.unknown': 'Unbekanntes Programm',
  'sessions.program': '{browser} auf {system}',
  'sessions.userAgent': 'User-Agent',
  'sessions.address': 'Adresse',
  'sessions.created': 'Angemeldet',
  'sessions.lastActivity': 'Zuletzt benutzt',
  'sessions.expires': 'Endet',
  'sessions.end': 'Abmelden',
  'sessions.endLabel': 'Sitzung von {program} ({address}), angemeldet {time}, abmelden',
  'sessions.endOthers': 'Alle anderen Sitzungen abmelden',
  'sessions.noOthers': 'Es gibt keine anderen Sitzungen.',
  'sessions.gone': 'Diese Sitzung ist bereits beendet. Die übrigen Sitzungen sehen Sie unten.',
  'sessions.more.one':
    'Eine ältere Sitzung wird nicht angezeigt. Wenn Sie alle anderen abmelden, gehört sie dazu.',
  'sessions.more.other':
    '{count} ältere Sitzungen werden nicht angezeigt. Wenn Sie alle anderen abmelden, gehören sie dazu.',

  'confirm.title': 'Bestätigen Sie, dass Sie es sind',
  'confirm.message':
    'Ihre Anmeldung liegt eine Weile zurück. Melden Sie sich erneut an, um hier etwas zu ändern.',
  'confirm.submit': 'Erneut anmelden',

  'password.message': 'Wenn Sie es ändern, werden Sie überall sonst abgemeldet.',
  'password.none':
    'Ihr Konto hat kein Passwort. Sie melden sich mit einem Zertifikat oder mit einem Konto bei einem anderen Anbieter an.',
  'password.current': 'Aktuelles Passwort',
  'password.next': 'Neues Passwort',
  'password.rule': 'Mindestens {count} Zeichen. Je länger, desto besser.',
  'password.repeated': 'Neues Passwort bestätigen',
  'password.submit': 'Passwort ändern',
  'password.wrong':
    'Das aktuelle Passwort ist falsch, oder es gab zu viele fehlgeschlagene Versuche.',
  'password.different': 'Die neuen Passwörter stimmen nicht überein.',
  'password.same': 'Das neue Passwort ist das aktuelle. Wählen Sie ein anderes.',
  'password.missing': 'Füllen Sie alle drei Felder aus.',
  'password.tooShort': 'Das neue Passwort muss mindestens {count} Zeichen lang sein.',
  'password.tooLong': 'Das neue Passwort darf höchstens {count} Zeichen lang sein.',
  'password.common':
    'Das neue Passwort gehört zu den häufigsten Passwörtern. Wählen Sie ein anderes.',
  'password.ownName':
    'Das neue Passwort besteht aus Ihrem Benutzernamen, Ihrem Namen oder dem Namen des Dienstes. Wählen Sie ein anderes.',

  'totp.off':
    'Mit einer Authenticator-App wird beim Anmelden zusätzlich nach einem Code von Ihrem Telefon gefragt.',
  'totp.start': 'App einrichten',
  'totp.on': 'Bei jeder Anmeldung wird nach einem Code aus Ihrer Authenticator-App gefragt.',
  'totp.recovery.title': 'Wiederherstellungscodes',
  'totp.recovery.none':
    'Sie haben keine mehr. Erstellen Sie neue: Ohne sie können Sie sich nicht anmelden, wenn Sie Ihr Telefon verlieren.',
  'totp.recovery.left':
    'Sie haben noch {count}. Wenn Sie Ihr Telefon verlieren, können Sie sich mit jedem einmal anmelden. Wenn Sie neue erstellen, gelten diese nicht mehr.',
  'totp.recovery.renew': 'Neue Wiederherstellungscodes erstellen',
  'totp.recovery.fresh': 'Ihre neuen Wiederherstellungscodes',
  'totp.recovery.save':
    'Die alten gelten nicht mehr. Diese werden nicht noch einmal angezeigt: Kopieren Sie sie oder drucken Sie diese Seite aus und bewahren Sie sie sicher auf.',
  'totp.recovery.done': 'Ich habe sie gesichert',
  'totp.remove.title': 'App entfernen',
  'totp.remove.hint': 'Beim Anmelden wird dann nicht mehr nach einem Code gefragt.',
  'totp.remove.demanded':
    'Für Ihr Konto ist eine App vorgeschrieben: Bei der nächsten Anmeldung richten Sie eine neue ein.',
  'totp.remove.submit': 'App entfernen',
  'totp.code': 'Code aus der App oder Wiederherstellungscode',
  'totp.cancel': 'Nicht jetzt',

  'certificates.message':
    'Programme und Browser können sich mit diesem Zertifikat und seinem Schlüssel anmelden.',
  'certificates.none':
    'Ihr Konto hat kein Zertifikat. Wenn Sie eines brauchen, wenden Sie sich an Ihre Administration.',
  'certificates.fingerprint': 'Fingerabdruck (SHA-256)',
  'certificates.from': 'Gültig ab',
  'certificates.until': 'Gültig bis',
  'certificates.by': 'Ausgestellt von',
  'certificates.network': 'diesem Dienst',
  'certificates.others': 'einer anderen Stelle',
  'certificates.expired': 'Abgelaufen',
  'certificates.renewing':
    'Eine Erneuerung läuft. Bis das Programm sie bestätigt hat, gelten beide Zertifikate.',
  'certificates.renewal': 'Neuer Fingerabdruck (SHA-256)',
  'certificates.programs': 'Das Programm, das den Schlüssel hat, erneuert das Zertifikat.',
  'certificates.elsewhere': 'Es wird dort erneuert, wo es ausgestellt wurde.',

  'note.confirmed': 'Danke. In den nächsten fünf Minuten können Sie Änderungen vornehmen.',
  'note.confirm-first':
    'Nichts wurde geändert. Bestätigen Sie, dass Sie es sind, und versuchen Sie es dann erneut.',
  'note.session-ended': 'Die Sitzung wurde abgemeldet.',
  'note.sessions-ended': 'Alle anderen Sitzungen wurden abgemeldet.',
  'note.password-changed': 'Ihr Passwort wurde geändert. Überall sonst wurden Sie abgemeldet.',
  'note.app-on':
    'Ihre App ist eingerichtet. Bei der nächsten Anmeldung wird nach einem Code gefragt.',
  'note.app-off': 'Die App wurde entfernt. Beim Anmelden wird nicht mehr nach einem Code gefragt.',
  'note.app-exists':
    'Sie haben bereits eine App. Um eine andere zu verwenden, entfernen Sie diese zuerst.',
  'note.app-again':
    'Das hat zu lange gedauert, oder die Einrichtung wurde an anderer Stelle neu begonnen. Beginnen Sie von vorn.',
  'note.signed-in-again': 'Sie wurden zwischenzeitlich abgemeldet. Nichts wurde geändert.',

  'blocked.title': 'Für Ihr Konto nicht verfügbar',
  'blocked.message':
    'Ihr Konto braucht bei jeder Anfrage eine Bestätigung eines Identitätsanbieters, die ein Browser nicht senden kann. Bitten Sie Ihre Administration um die Änderung oder verwenden Sie ein Programm, das es kann.',

  'badge.on': 'Ein',
  'badge.off': 'Aus',
  'badge.warn': 'Handlungsbedarf',
}
