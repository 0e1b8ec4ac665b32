/** Walks through the tokens of a filter. Keywords are case-insensitive. */
import { FilterFault, type Token } from './filter-tokens.ts'

export class TokenCursor {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  peek(): Token {
    return this.#tokens[this.#at] as Token
  }

  /** Never moves past the end: reading there returns the end token again. */
  next(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.#at += 1
    return token
  }

  isWord(...words: readonly string[]): boolean {
    const token = this.peek()
    return token.kind === 'word' && words.includes(token.text.toLowerCase())
  }

  /** Consumes one of these words if it comes next; returns it in lower case. */
  takeWord(...words: readonly string[]): string | undefined {
    if (!this.isWord(...words)) return undefined
    const token = this.next()
    return token.kind === 'word' ? token.text.toLowerCase() : undefined
  }

  takeSign(sign: string): boolean {
    const token = this.peek()
    const isNext = token.kind === 'sign' && token.text === sign
    if (isNext) this.next()
    return isNext
  }

  expectSign(sign: string): void {
    if (!this.takeSign(sign)) throw new FilterFault(`"${sign}" is missing`, this.peek().column)
  }

  expectWord(word: string): void {
    if (this.takeWord(word) === undefined) {
      throw new FilterFault(`"${word}" is missing`, this.peek().column)
    }
  }
}
