import { typed } from "../../../../src/api/object.ts";
import type { LocalDirectories } from "../../../../src/control-plane/ports/local-directories.ts";
import type { Dice } from "../../dice.ts";
import type { Ledger } from "../ledger.ts";
import type { Life } from "../life.ts";

interface DirectoryDeps {
  dice: Dice;
  ledger: Ledger;
  count(kind: string): void;
  fail(invariant: string, message: string): void;
}

/** The disk of the node that has the volumes. */
export interface Directories {
  /** As one process of the control plane sees it. */
  open(life: Life): LocalDirectories;
  /** The share of calls that fail. */
  storm(rate: number): void;
  names(): readonly string[];
}

const NODE = "n1";
const INVARIANT = "the data of a claim stays as long as the claim";

export function createDirectories({ dice, ledger, count, fail }: DirectoryDeps): Directories {
  const present = new Set<string>();
  let rate = 0;
  const pathOf = (name: string) => `/volumes/${name}`;
  const problem = () => {
    if (rate === 0 || !dice.chance(rate)) return undefined;
    count("directory refused");
    return "device or resource busy, by the simulator";
  };
  /** The claim for which the directory was made, or which has its volume. */
  const claimOf = (name: string) => {
    const volume = ledger.get("persistentvolumes", name, "");
    const owner = volume && typed("PersistentVolume", volume).spec?.claimRef?.uid;
    return ledger
      .list("persistentvolumeclaims")
      .find(({ metadata }) => metadata.uid === owner || `pvc-${metadata.uid}` === name);
  };
  return {
    open: (life) => ({
      nodeName: NODE,
      pathOf,
      async ensure(name) {
        if (life.isDead) await never();
        const trouble = problem();
        if (trouble === undefined) present.add(name);
        return trouble;
      },
      async remove(name) {
        if (life.isDead) await never();
        const trouble = problem();
        if (trouble !== undefined) return trouble;
        const claim = claimOf(name);
        if (claim !== undefined) fail(INVARIANT, `${name} of ${claim.metadata.name} was removed`);
        present.delete(name);
        return undefined;
      },
      async removeEmpty(name) {
        if (life.isDead) await never();
        // Whatever a volume was made of is in use.
        if (ledger.get("persistentvolumes", name, "") === undefined) present.delete(name);
      },
      async list() {
        if (life.isDead) await never();
        return [...present];
      },
    }),
    storm(next) {
      rate = next;
    },
    names: () => [...present],
  };
}

async function never(): Promise<never> {
  return await new Promise<never>(() => undefined);
}
