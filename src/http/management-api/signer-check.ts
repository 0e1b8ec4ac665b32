/** POST /external-jwt-signers/{id}/check: would a login with this JWT be accepted, and if not, why not. API 3.3, D-136. */
import { Secret } from '../../base/secrets/secret.ts'
import { type CheckedJwt, SignerCheck } from '../../contract/management/signer-check.ts'
import type { CheckSigner } from '../../domain/ext-jwt/check-signer.ts'
import { found, idIn } from '../edge-api/answers.ts'
import { readBody } from '../edge-api/read-body.ts'
import type { Router } from '../route.ts'
import { ACT } from './route-defaults.ts'

export function addSignerCheck(
  router: Router,
  prefix: string,
  { check }: { readonly check: CheckSigner },
): void {
  const url = `${prefix}/external-jwt-signers/:id/check`

  router.add({ ...ACT, url }, async ({ path, body }) => {
    const signer = await check.find(idIn(path))
    const { jwt } = readBody(SignerCheck, body)
    const { passed, steps } = await check.check(signer, new Secret(jwt))
    const answer: CheckedJwt = { passed, steps: [...steps] }
    return found(answer)
  })
}
