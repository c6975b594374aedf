import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../api/object.ts";

/**
 * Which webhooks or policies have a turn in the second round, in which everything that changes objects is asked again.
 * Follows `webhookReinvokeContext` and `policyReinvokeContext` of k8s.io/apiserver/pkg/admission/plugin.
 */
export interface Rounds {
  /** True after a first round in which something has changed. */
  readonly wantsAnother: boolean;
  /** The object as the last round left it. */
  output: KubeObject | undefined;
  /** Begins the second round, with the object as the other plugins have left it. */
  begin(object: KubeObject | undefined): void;
  includes(id: string): boolean;
  /** Ends the turn of one, which may have another one if it is reinvocable. */
  end(id: string, turn: { readonly changed: boolean; readonly isReinvocable: boolean }): void;
  /** Lets all reinvocable ones that had a turn in this round have one in the next. */
  recall(): void;
}

/** The rounds of one attempt at a request. */
export function createRounds(): Rounds {
  const called = new Set<string>();
  const again = new Set<string>();
  let isSecond = false;
  let wantsAnother = false;
  const reinvokeCalled = () => {
    for (const id of called) again.add(id);
    called.clear();
  };
  const recall = () => {
    reinvokeCalled();
    wantsAnother = true;
  };
  return {
    output: undefined,
    get wantsAnother() {
      return wantsAnother && !isSecond;
    },
    begin(object) {
      isSecond = true;
      if (!isDeepStrictEqual(object, this.output)) reinvokeCalled();
    },
    includes: (id) => !isSecond || again.has(id),
    end(id, { changed, isReinvocable }) {
      if (changed) recall();
      if (isReinvocable) called.add(id);
    },
    recall,
  };
}
