/** The administrator of a service with the compatibility layer, who logs in as the Go SDK does. */
import { type Administrator, administratorWith } from '../management.ts'
import type { Service } from '../service.ts'
import { logInAsGo } from './openziti.ts'

export async function administrateOpenZiti(service: Service): Promise<Administrator> {
  return administratorWith(service, (await logInAsGo(service)).access_token)
}
