/** Enrollment, for `http`: what an invitation is exchanged for, and the renewal of it. API 3.2. */

import { enrollByCsr, enrollByPassword } from '../../domain/enrollments/enroll.ts'
import { enrollByCaAlone, enrollByCaAndToken } from '../../domain/enrollments/enroll-by-ca.ts'
import type { EnrollmentPorts } from '../../domain/enrollments/ports.ts'
import { confirmRenewal, extendCertificate } from '../../domain/enrollments/renewal/renew.ts'
import { withPorts } from './with-ports.ts'

export function composeEnrollment(ports: EnrollmentPorts) {
  return {
    enroll: withPorts(ports, { byCsr: enrollByCsr, byPassword: enrollByPassword }),
    enrollByCa: withPorts(ports, {
      withToken: enrollByCaAndToken,
      withoutToken: enrollByCaAlone,
    }),
    renewCertificate: withPorts(ports, { extend: extendCertificate, verify: confirmRenewal }),
  }
}
