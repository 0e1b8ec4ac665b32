import type { GATEWAY as EN } from '../en/gateway.ts'

export const GATEWAY: Readonly<Record<keyof typeof EN, string>> = {
  'gateway.noAccess.title': 'Sie haben keinen Zugriff',
  'gateway.noAccess.message':
    'Sie sind angemeldet, aber Ihr Konto darf diese Adresse nicht öffnen. Wenn Sie sie brauchen, wenden Sie sich an Ihre Administration.',
  'gateway.noAccess.signOut': 'Anderes Konto verwenden',
  'gateway.again.title': 'Erneut anmelden',
  'gateway.again.old': 'Ihre Anmeldung ist für diese Adresse zu lange her.',
  'gateway.again.weak':
    'Diese Adresse verlangt einen weiteren Nachweis, wer Sie sind, zum Beispiel einen Code.',
  'gateway.again.submit': 'Erneut anmelden',
  'gateway.notHere.title': 'Im Browser geht das nicht',
  'gateway.notHere.message':
    'Ihr Konto braucht zu jeder Anfrage ein Zertifikat oder eine Bestätigung, und ein Browser kann sie an diese Adresse nicht senden. Verwenden Sie ein Programm, das es kann, oder wenden Sie sich an Ihre Administration.',
  'gateway.signInFailed.title': 'Sie sind nicht angemeldet',
  'gateway.signInFailed.message':
    'Die Anmeldung hat zu lange gedauert, wurde in einem anderen Browser begonnen oder ist schon abgeschlossen.',
  'gateway.signInRefused.message': 'Die Anmeldung wurde abgelehnt oder abgebrochen.',
  'gateway.unavailable.title': 'Versuchen Sie es gleich noch einmal',
  'gateway.unavailable.message': 'Der Anmeldedienst ist zurzeit nicht erreichbar.',
  'gateway.unreachable.title': 'Die Anwendung antwortet nicht',
  'gateway.unreachable.message':
    'Versuchen Sie es gleich noch einmal. Wenn es nicht hilft, wenden Sie sich an Ihre Administration.',
  'gateway.tryAgain': 'Erneut versuchen',
  'gateway.blocked.title': 'Anfrage blockiert',
  'gateway.blocked.message':
    'Diese Anfrage hat vielleicht eine andere Website in Ihrem Namen gesendet. Öffnen Sie die Anwendung und versuchen Sie es dort erneut.',
  'gateway.refused.title': 'Das hat nicht funktioniert',
  'gateway.refused.message': 'Die Anfrage kann nicht beantwortet werden.',
  'gateway.nothing.title': 'Hier ist nichts',
  'gateway.nothing.message': 'Unter dieser Adresse gibt es keine Anwendung.',
  'gateway.toStart': 'Zur Startseite',
  'gateway.signOut.message': 'Sie sind bei {host} als {name} angemeldet.',
  'gateway.signedOut.message': 'Sie sind von {host} abgemeldet.',
}
