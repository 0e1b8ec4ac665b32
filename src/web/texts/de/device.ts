import type { DEVICE as EN } from '../en/device.ts'

export const DEVICE: Readonly<Record<keyof typeof EN, string>> = {
  'device.title': 'Auf einem anderen Gerät anmelden',
  'device.message': 'Geben Sie den Code ein, den das Gerät anzeigt.',
  'device.code': 'Code',
  'device.continue': 'Weiter',
  'device.warning':
    'Fahren Sie nur fort, wenn Sie die Anmeldung auf dem Gerät selbst begonnen haben. Geben Sie niemals einen Code ein, den Ihnen jemand geschickt hat.',
  'device.again': 'Code eingeben',
  'device.error.malformed':
    'Der Code ist nicht vollständig. Er hat acht Buchstaben: Vergleichen Sie ihn mit dem Gerät.',
  'device.error.unknown':
    'Kein Gerät wartet mit diesem Code. Vergleichen Sie ihn mit dem Gerät und versuchen Sie es noch einmal.',
  'device.error.expired':
    'Dieser Code ist abgelaufen. Beginnen Sie auf dem Gerät von vorn und geben Sie den neuen Code ein.',
  'device.error.answered':
    'Dieser Code wurde schon verwendet. Wartet das Gerät noch, beginnen Sie dort von vorn.',
  'device.error.certificate':
    'Sie haben sich mit einem Zertifikat angemeldet, das das Gerät nicht hat. Melden Sie sich auf andere Weise an, oder geben Sie dem Gerät ein eigenes Zertifikat.',
  'device.confirm.title': 'Dieses Gerät anmelden?',
  'device.confirm.as': 'Sie sind als {name} angemeldet.',
  'device.confirm.compare': 'Zeigt Ihr Gerät genau diesen Code?',
  'device.confirm.program': 'Programm',
  'device.confirm.address': 'Adresse',
  'device.confirm.time': 'Angefragt',
  'device.confirm.warning':
    'Das Gerät erhält Zugriff auf alles, worauf Sie Zugriff haben. Haben Sie die Anmeldung nicht selbst auf einem Gerät vor Ihnen begonnen, oder hat Ihnen jemand einen Link oder einen Code geschickt, wählen Sie „Ablehnen“.',
  'device.confirm.approve': 'Genehmigen',
  'device.confirm.deny': 'Ablehnen',
  'device.approved.title': 'Gerät genehmigt',
  'device.approved.message':
    'Das Gerät meldet sich in wenigen Sekunden an. Sie können diese Seite schließen. Ihr Konto zeigt das Gerät unter Ihren Sitzungen; dort können Sie es abmelden.',
  'device.approved.sessions': 'Zu Ihren Sitzungen',
  'device.denied.title': 'Gerät abgelehnt',
  'device.denied.message':
    'Das Gerät erhält keinen Zugriff. Haben Sie die Anmeldung nicht begonnen, sagen Sie Ihrem Administrator, dass Ihnen jemand den Code geschickt hat. Sie können diese Seite schließen.',
  'device.blocked.title': 'Für Ihr Konto nicht verfügbar',
  'device.blocked.message':
    'Ihr Konto braucht bei jeder Anfrage auch eine Bestätigung eines Identitätsanbieters, die diese Seite und das Gerät nicht senden können.',
  'signingIn.otherDevice': 'Sie melden sich an, um ein anderes Gerät zu genehmigen.',
  'signingIn.otherDeviceAs': 'Sie melden sich als {name} an, um ein anderes Gerät zu genehmigen.',
}
