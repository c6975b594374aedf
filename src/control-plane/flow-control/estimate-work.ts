/** Objects of a list for each seat that it takes, as upstream. */
const OBJECTS_PER_SEAT = 100;
const MAX_SEATS = 10;
/** An object that a selector looks at costs so much less than one that is sent. */
const SELECTION_DISCOUNT = 10;

interface AskedList {
  /** How many objects there are. */
  readonly objects: number;
  /** 0 for no limit. */
  readonly limit: number;
  readonly hasSelector: boolean;
}

/** How much work a list is. How many objects a selector leaves is not known before: few, most often. */
export function estimateWork({ objects, limit, hasSelector }: AskedList): { seats: number; isLong: boolean } {
  const sent = hasSelector ? objects / SELECTION_DISCOUNT : objects;
  const wanted = limit > 0 ? Math.min(limit, sent) : sent;
  const seats = Math.min(MAX_SEATS, Math.max(1, Math.ceil(wanted / OBJECTS_PER_SEAT)));
  return { seats, isLong: seats > 1 };
}
