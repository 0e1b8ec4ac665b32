import type { ERRORS as EN } from '../en/errors.ts'

export const ERRORS: Readonly<Record<keyof typeof EN, string>> = {
  'error.INVALID_AUTH.title': 'Nicht angemeldet',
  'error.INVALID_AUTH.message':
    'Benutzername und Passwort stimmen nicht überein. Versuchen Sie es erneut.',
  'error.INVALID_AUTH_REQUEST.title': 'Diese Anmeldung ist beendet',
  'error.INVALID_AUTH_REQUEST.message':
    'Sie hat zu lange gedauert, ist bereits abgeschlossen oder wurde in einem anderen Browser begonnen. Kehren Sie zur Anwendung zurück und melden Sie sich erneut an.',
  'error.INVALID_CLIENT.title': 'Unbekannte Anwendung',
  'error.INVALID_CLIENT.message':
    'Die Anfrage der Anwendung ist hier nicht erlaubt. Wenden Sie sich an deren Betreiber.',
  'error.INVALID_REDIRECT_URI.title': 'Ungültige Rücksprungadresse',
  'error.INVALID_REDIRECT_URI.message':
    'Die Anfrage der Anwendung ist hier nicht erlaubt. Wenden Sie sich an deren Betreiber.',
  'error.INVALID_POST_LOGOUT_URI.title': 'Nicht abgemeldet',
  'error.INVALID_POST_LOGOUT_URI.message':
    'Die Anfrage der Anwendung ist hier nicht erlaubt. Wenden Sie sich an deren Betreiber.',
  'error.INVALID_ID_TOKEN_HINT.title': 'Nicht abgemeldet',
  'error.INVALID_ID_TOKEN_HINT.message':
    'Die Anfrage der Anwendung ist hier nicht erlaubt. Wenden Sie sich an deren Betreiber.',
  'error.UNAUTHORIZED.title': 'Bestätigung fehlt',
  'error.UNAUTHORIZED.message':
    'Die Anwendung muss eine gültige Bestätigung eines Identitätsanbieters senden. Kehren Sie zur Anwendung zurück und melden Sie sich erneut an.',
  'error.MFA_INVALID_TOKEN.title': 'Falscher Code',
  'error.MFA_INVALID_TOKEN.message':
    'Dieser Code ist falsch. Warten Sie auf den nächsten und versuchen Sie es erneut.',
  'error.MFA_EXISTS.title': 'Bereits eingerichtet',
  'error.MFA_EXISTS.message':
    'Dieses Konto hat bereits eine Authenticator-App. Kehren Sie zur Anwendung zurück und melden Sie sich erneut an.',
  'error.MFA_ENROLLMENT_NOT_STARTED.title': 'Einrichtung nicht begonnen',
  'error.MFA_ENROLLMENT_NOT_STARTED.message':
    'Die Einrichtung dieser App wurde nicht begonnen oder an anderer Stelle neu begonnen. Kehren Sie zur Anwendung zurück und melden Sie sich erneut an.',
  'error.RATE_LIMITED.title': 'Zu viele Versuche',
  'error.RATE_LIMITED.message':
    'Zu viele fehlgeschlagene Versuche. Warten Sie eine Weile und versuchen Sie es dann erneut, oder wenden Sie sich an Ihre Administration.',
  'error.FORBIDDEN.title': 'Nichts wurde geändert',
  'error.FORBIDDEN.message':
    'Das Formular war veraltet oder stammte nicht von dieser Seite. Gehen Sie zurück und versuchen Sie es erneut.',
  'error.NOT_FOUND.title': 'Seite nicht gefunden',
  'error.NOT_FOUND.message': 'Unter dieser Adresse gibt es keine Seite.',
  'error.SERVER_TOO_BUSY.title': 'Gerade sehr ausgelastet',
  'error.SERVER_TOO_BUSY.message':
    'In diesem Moment melden sich sehr viele Personen an. Versuchen Sie es in einigen Sekunden erneut.',
  'error.IDP_UNAVAILABLE.title': 'Zurzeit nicht verfügbar',
  'error.IDP_UNAVAILABLE.message':
    'Der Identitätsanbieter antwortet nicht. Versuchen Sie es in einer Minute erneut.',
  'error.NOT_READY.title': 'Zurzeit nicht verfügbar',
  'error.NOT_READY.message':
    'Der Dienst holt gerade auf. Versuchen Sie es in einigen Sekunden erneut.',
  'error.METHOD_NOT_ALLOWED.title': 'Keine Seite',
  'error.METHOD_NOT_ALLOWED.message': 'Diese Adresse ist für Programme und zeigt keine Seite.',
  'error.BAD_REQUEST.title': 'Ungültige Adresse',
  'error.BAD_REQUEST.message':
    'Der Dienst kann diese Adresse nicht lesen. Prüfen Sie sie und versuchen Sie es erneut.',
  'error.MISDIRECTED_REQUEST.title': 'Unbekannte Adresse',
  'error.MISDIRECTED_REQUEST.message':
    'Der Dienst antwortet nicht unter diesem Namen. Verwenden Sie die Adresse, die Sie von seinem Betreiber haben.',
  'errorPage.start': 'Zur Startseite',
  'error.other.title': 'Etwas ist schiefgegangen',
  'error.other.message': 'Kehren Sie zur Anwendung zurück und melden Sie sich erneut an.',

  'accountError.INVALID_AUTH_REQUEST.title': 'Nicht angemeldet',
  'accountError.INVALID_AUTH_REQUEST.message':
    'Diese Anmeldung hat zu lange gedauert, ist bereits abgeschlossen oder wurde in einem anderen Browser begonnen.',
  'accountError.INVALID_GRANT.title': 'Nicht angemeldet',
  'accountError.INVALID_GRANT.message':
    'Diese Anmeldung konnte nicht abgeschlossen werden. Versuchen Sie es erneut.',
  'accountError.FORBIDDEN.title': 'Nichts wurde geändert',
  'accountError.FORBIDDEN.message':
    'Das Formular war veraltet oder stammte nicht von dieser Seite. Öffnen Sie die Seite und versuchen Sie es erneut.',
  'accountError.NOT_FOUND.title': 'Seite nicht gefunden',
  'accountError.NOT_FOUND.message': 'Das gibt es in Ihrem Konto nicht oder nicht mehr.',
  'accountError.other.title': 'Nichts wurde geändert',
  'accountError.other.message':
    'Das Formular war nicht richtig ausgefüllt. Öffnen Sie die Seite und versuchen Sie es erneut.',
}
