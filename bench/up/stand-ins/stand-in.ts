import { CORE_DNS, GO_CONTROLLERS, GO_PROXY } from "../../measure.ts";
import type { UpCaseName } from "../../options.ts";

/** A part of the cluster that a program of Kubernetes' own can take over, by the flag `--no-…` that leaves it to others. */
export type Part = "proxy" | "dns" | "controllers";

/** A Go program that takes the place of a part of ours. */
export interface StandIn {
  readonly part: Part;
  /** As the report calls it. */
  readonly name: string;
  /** The program. */
  readonly binary: string;
}

/** The variables that name the programs. */
const VARIABLES = {
  proxy: "KUBE_PROXY_BIN",
  dns: "COREDNS_BIN",
  controllers: "KUBE_CONTROLLER_MANAGER_BIN",
} as const satisfies Readonly<Record<Part, string>>;

const NAMES: Readonly<Record<Part, string>> = { proxy: GO_PROXY, dns: CORE_DNS, controllers: GO_CONTROLLERS };

/** The parts that a case measures. */
const MEASURED: Readonly<Record<UpCaseName, readonly Part[]>> = {
  "up-deployment": ["controllers"],
  "up-idle": ["proxy", "dns", "controllers"],
  "up-dns": ["dns"],
  "up-endpoints": ["proxy"],
};

/** The programs that are measured beside ours in a case, of those that the environment names. */
export function findStandIns(
  name: UpCaseName,
  environment: Readonly<Record<string, string | undefined>>,
): readonly StandIn[] {
  return MEASURED[name].flatMap((part) => {
    const binary = environment[VARIABLES[part]] ?? "";
    return binary === "" ? [] : [{ part, name: NAMES[part], binary }];
  });
}

/** Says which programs are not measured beside ours in these cases, each once, and why. */
export function nameMissing(
  names: readonly UpCaseName[],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const parts = new Set(names.flatMap((name) => MEASURED[name]));
  return [...parts]
    .filter((part) => (environment[VARIABLES[part]] ?? "") === "")
    .map((part) => `no ${NAMES[part]} beside it, for ${VARIABLES[part]} is not set`);
}
