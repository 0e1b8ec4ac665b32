/**
 * Shows what the user typed in a filter or a sort that the server refuses. The cause in the API gives only the column,
 * because it must not repeat values.
 */

/** Returns the word at the column of the reason, or the sort text; undefined if there is nothing to show. */
export function faultyPart(
  field: string,
  reason: string,
  { filter, sort }: { readonly filter?: string | undefined; readonly sort?: string | undefined },
): string | undefined {
  if (field === 'sort') return sort
  const [, column] = /, at column (\d{1,5})$/.exec(reason) ?? []
  if (field !== 'filter' || filter === undefined || column === undefined) return undefined
  // The server counts characters, not UTF-16 units.
  const rest = [...filter].slice(Number(column) - 1).join('')
  return /^(?:[\w.]+|"[^"]*"|\S)/.exec(rest)?.[0]
}
