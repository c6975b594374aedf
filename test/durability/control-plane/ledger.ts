/** What a config map says; `undefined` for one that is not there. */
export type Value = string | undefined;

/** A write that was acknowledged. A deletion does not tell its revision. */
interface Acknowledged {
  readonly name: string;
  readonly value: Value;
  readonly revision: number | undefined;
}

/** Everything that is known of one cluster's objects from the answers of its API server. */
export interface Ledger {
  /** As the last answer said, by name. */
  readonly known: Map<string, Value>;
  /** The one write of each name that nobody answered: it happened or not. */
  readonly open: Map<string, Value>;
  /** Values that the server refused. */
  readonly refused: Set<string>;
  /** Every value that was ever sent for a name, which a salvaged store may have again. */
  readonly sent: Map<string, Set<string>>;
  /** Since the last look, in the order of each name. */
  acknowledged: Acknowledged[];
  /** The highest revision of any answer. */
  revision: number;
}

export function createLedger(): Ledger {
  return {
    known: new Map(),
    open: new Map(),
    refused: new Set(),
    sent: new Map(),
    acknowledged: [],
    revision: 0,
  };
}

/** To be called before a write is sent. */
export function noteSent({ open, sent }: Ledger, name: string, value: Value): void {
  open.set(name, value);
  if (value === undefined) return;
  const values = sent.get(name) ?? new Set();
  sent.set(name, values.add(value));
}

export function noteAcknowledged(ledger: Ledger, { name, value, revision }: Acknowledged): void {
  ledger.open.delete(name);
  ledger.known.set(name, value);
  ledger.acknowledged.push({ name, value, revision });
  ledger.revision = Math.max(ledger.revision, revision ?? 0);
}

export function noteRefused({ open, refused }: Ledger, name: string, value: string): void {
  open.delete(name);
  refused.add(value);
}
