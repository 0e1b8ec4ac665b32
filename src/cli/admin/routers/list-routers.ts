/** `latchkey list routers`: edge routers, with the time of their last contact. D-381. */
import { listAll } from '../entities/list-entities.ts'

export const listRouters = listAll('/routers', [
  { title: 'NAME', path: 'name' },
  { title: 'ID', path: 'id' },
  { title: 'HOSTS', path: 'hosts' },
  { title: 'CONNECTED', path: 'isConnected', as: 'truth' },
  { title: 'LAST CONTACT', path: 'lastContactAt', as: 'time' },
  { title: 'CONFIRMS', path: 'confirms', as: 'truth' },
  { title: 'PROGRAMS', path: 'programs' },
])
