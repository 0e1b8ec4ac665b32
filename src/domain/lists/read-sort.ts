/** `sort = field [asc|desc], …`, up to five fields. API 2. */
import { fieldNamed, type ListFields, type Order, resolvedName } from './list-query.ts'

export const MOST_ORDERS = 5
export const TOO_MANY_ORDERS = `has more than ${MOST_ORDERS} fields`

/** Returns the orders of a sort text, or what is wrong with it. */
export function readSort(text: string, known: ListFields): readonly Order[] | string {
  const parts = text.split(',')
  if (parts.length > MOST_ORDERS) return TOO_MANY_ORDERS
  const orders: Order[] = []
  for (const part of parts) {
    const [field = '', direction = 'asc', ...more] = part.trim().split(/\s+/)
    const order =
      more.length > 0 ? 'must be fields with asc or desc' : readOrder(field, direction, known)
    if (typeof order === 'string') return order
    orders.push(order)
  }
  return orders
}

/** Returns one order, or what is wrong with it. */
export function readOrder(name: string, direction: string, known: ListFields): Order | string {
  const field = resolvedName(known, name)
  const found = fieldNamed(known, field)
  if (found === undefined || found.isList === true) return 'names no field to sort by'
  const word = direction.toLowerCase()
  return word === 'asc' || word === 'desc' ? { field, direction: word } : 'must be asc or desc'
}
