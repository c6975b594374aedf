import type { NumberEndpoint } from "./endpoint-choice.ts";

/** The numbers of a service's endpoints. */
interface EndpointNumbers {
  /** Calls with what numbers endpoints. Those that are not numbered meanwhile are gone. */
  renew<T>(compile: (numberOf: NumberEndpoint) => T): T;
}

/** The marks of nftables have 32 bits. */
const BITS = 32;

/** Creates numbers for a service without endpoints. */
export function createEndpointNumbers(): EndpointNumbers {
  let numbers: ReadonlyMap<string, number> = new Map();
  let given = 0;
  return {
    renew(compile) {
      const next = new Map<string, number>();
      const numberOf = (name: string) => {
        const number = next.get(name) ?? numbers.get(name) ?? ++given % 2 ** BITS;
        next.set(name, number);
        return number;
      };
      const result = compile(numberOf);
      numbers = next;
      return result;
    },
  };
}
