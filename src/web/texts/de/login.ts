import type { LOGIN as EN } from '../en/login.ts'

export const LOGIN: Readonly<Record<keyof typeof EN, string>> = {
  'language.label': 'Sprache',
  'foot.support': 'Hilfe',
  'title.error': 'Fehler: {title}',
  'title.account': '{title} – Ihr Konto',
  'requestId.label': 'Anfrage-ID',

  'signIn.title': 'Anmelden',
  'signIn.username': 'Benutzername',
  'signIn.password': 'Passwort',
  'signIn.submit': 'Anmelden',
  'signIn.or': 'oder',
  'signIn.passwordInstead': 'Stattdessen mit Passwort anmelden',
  'signIn.severalFailures':
    'Benutzername und Passwort stimmen nicht überein. Mehrere Versuche sind fehlgeschlagen: Warten Sie eine Weile, bevor Sie es erneut versuchen, oder wenden Sie sich an Ihre Administration.',

  'code.title': 'Code eingeben',
  'code.message': 'Geben Sie den Code ein, den Ihre Authenticator-App für dieses Konto anzeigt.',
  'code.label': 'Code',
  'code.submit': 'Weiter',
  'code.recovery':
    'Kein Zugriff auf Ihr Telefon? Verwenden Sie einen Ihrer Wiederherstellungscodes. Jeder gilt einmal.',

  'enrollStart.title': 'Noch ein Schritt',
  'enrollStart.message':
    'Zum Anmelden brauchen Sie zusätzlich einen Code aus einer Authenticator-App auf Ihrem Telefon. Das Einrichten dauert eine Minute.',
  'enrollStart.submit': 'App einrichten',

  'enroll.title': 'App einrichten',
  'enroll.apps':
    'Jede Authenticator-App ist geeignet. Falls Sie noch keine haben, installieren Sie zuerst eine.',
  'enroll.scan.title': 'QR-Code scannen',
  'enroll.scan.message':
    'Fügen Sie in Ihrer Authenticator-App ein Konto hinzu und scannen Sie diesen Code.',
  'enroll.scan.picture': 'QR-Code für Ihre Authenticator-App',
  'enroll.scan.tooLong':
    'Fügen Sie in Ihrer Authenticator-App mit diesem Link oder Schlüssel ein Konto hinzu.',
  'enroll.scan.open': 'In einer App auf diesem Gerät öffnen',
  'enroll.scan.type': 'Stattdessen Schlüssel eingeben',
  'enroll.scan.key': 'Geben Sie diesen Schlüssel in der App ein und wählen Sie zeitbasierte Codes.',
  'enroll.save.title': 'Wiederherstellungscodes sichern',
  'enroll.save.of': 'Wiederherstellungscodes für {name}, {issuer}',
  'enroll.save.message':
    'Wenn Sie Ihr Telefon verlieren, können Sie sich mit jedem Code einmal anmelden. Die Codes werden nicht noch einmal angezeigt: Kopieren Sie sie oder drucken Sie diese Seite aus und bewahren Sie sie sicher auf.',
  'enroll.prove.title': 'Code eingeben',
  'enroll.prove.message':
    'Geben Sie den sechsstelligen Code ein, den die App für dieses Konto anzeigt.',
  'enroll.prove.code': 'Code',
  'enroll.prove.submit': 'Fertig',
  'enroll.saved': 'Ich habe meine Wiederherstellungscodes gesichert',
  'enroll.unsaved':
    'Haben Sie Ihre Wiederherstellungscodes gesichert? Falls nicht, {startOver}: Sie erhalten dann neue.',
  'enroll.startOver': 'beginnen Sie von vorn',

  'certificate.title': 'Mit Zertifikat anmelden',
  'certificate.message':
    'Ihr Browser hat ein Zertifikat. Damit können Sie sich ohne Passwort anmelden.',
  'certificate.submit': 'Mein Zertifikat verwenden',
  'certificate.missing':
    'Ihr Browser hat kein Zertifikat gesendet. Falls Sie eines haben, schließen Sie den Browser, öffnen Sie ihn wieder und wählen Sie das Zertifikat aus, wenn Sie danach gefragt werden.',
  'certificate.refused': 'Mit diesem Zertifikat können Sie sich hier nicht anmelden.',

  'provider.title': 'Anmeldeart wählen',
  'provider.choose':
    'Melden Sie sich mit einem Konto bei einem anderen Anbieter an. Danach kehren Sie hierher zurück.',
  'provider.continue': 'Weiter mit {name}',
  'provider.more': 'Weitere Anmeldearten',
  'provider.message':
    'Für diese Anmeldung ist eine Bestätigung eines Identitätsanbieters nötig, die die Anwendung für Sie einholt. Diese Anbieter werden akzeptiert:',
  'provider.none':
    'Für diese Anmeldung ist eine Bestätigung eines Identitätsanbieters nötig, und hier ist keiner eingerichtet.',
  'provider.failed':
    'Der Identitätsanbieter hat Sie nicht angemeldet. Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.',
  'provider.refused':
    'Mit diesem Konto können Sie sich hier nicht anmelden. Versuchen Sie es mit einem anderen.',
  'provider.unavailable':
    'Dieser Identitätsanbieter antwortet nicht. Versuchen Sie es in einer Minute erneut.',
  'provider.tooMany':
    'Zu viele fehlgeschlagene Versuche. Warten Sie eine Minute und versuchen Sie es dann erneut.',

  'secondProof.title': 'Noch eine Anmeldung',
  'secondProof.message':
    'Ein Identitätsanbieter muss Ihr Konto ebenfalls bestätigen. Danach kehren Sie hierher zurück.',
  'secondProof.otherAccount':
    'Dieses Konto gehört nicht zu Ihrem Konto hier. Versuchen Sie es mit dem richtigen erneut.',

  'formPost.title': 'Einen Moment',
  'formPost.message':
    'Sie kehren zur Anwendung zurück. Falls nichts geschieht, wählen Sie „Weiter“.',
  'formPost.submit': 'Weiter',

  'signOut.title': 'Abmelden?',
  'signOut.signedInAs': 'In diesem Browser sind Sie als {name} bei Ihrem Konto angemeldet.',
  'signOut.others': 'Anwendungen und Ihre anderen Geräte bleiben angemeldet.',
  'signOut.submit': 'Abmelden',
  'signOut.stay': 'Angemeldet bleiben',
  'signOut.account': 'Zu Ihrem Konto',

  'notSignedIn.title': 'Sie sind nicht angemeldet',
  'notSignedIn.message':
    'In diesem Browser gibt es keine Sitzung, die beendet werden könnte. Sie können dieses Fenster schließen.',
  'notSignedIn.others':
    'Anwendungen sind möglicherweise noch angemeldet. Melden Sie sich dort ab, um deren Sitzungen zu beenden.',

  'signedOut.title': 'Abgemeldet',
  'signedOut.message': 'Sie können dieses Fenster schließen.',
  'signedOut.again': 'Erneut anmelden',
  'end.everywhere': 'Bestätigt: Der Zugriff ist überall beendet.',
  'end.pending':
    '{confirmed} von {all} Servern haben es bestätigt. Die übrigen verweigern den Zugriff spätestens ab {time}. Laden Sie die Seite neu, um es erneut zu prüfen.',

  'signingIn.site': 'Sie melden sich bei {host} an.',
  'signingIn.device': 'Sie melden sich bei einer Anwendung auf diesem Gerät an.',
  'signingIn.account': 'Sie melden sich bei Ihrem Konto an.',
  'signingIn.console': 'Sie melden sich bei der Konsole an.',
  'signingIn.siteAs': 'Sie melden sich als {name} bei {host} an.',
  'signingIn.deviceAs': 'Sie melden sich als {name} bei einer Anwendung auf diesem Gerät an.',
  'signingIn.accountAs': 'Sie melden sich als {name} bei Ihrem Konto an.',
  'signingIn.consoleAs': 'Sie melden sich als {name} bei der Konsole an.',
  'signingIn.other': 'Anderes Konto verwenden',

  'continue.title': 'Fortfahren?',
  'continue.submit': 'Fortfahren',

  'ended.message': 'Sie hat zu lange gedauert oder ist bereits abgeschlossen.',
  'ended.restart': 'Neu beginnen',

  'codes.copy': 'Kopieren',
  'codes.copied': 'Kopiert',
  'codes.download': 'Herunterladen',
  'codes.file': 'wiederherstellungscodes',

  'password.show': 'Passwort anzeigen',
  'password.hide': 'Passwort verbergen',
}
