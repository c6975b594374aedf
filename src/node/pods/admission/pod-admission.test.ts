import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import type { FitVerdict } from "./fit.ts";
import { createPodAdmission } from "./pod-admission.ts";

const POD: Pod = { metadata: { uid: "u", name: "p", namespace: "ns" } };
const NO_FIT = { reason: "OutOfcpu", message: "no cpu" };
const FORBIDDEN = { reason: "SysctlForbidden", message: "forbidden sysctl" };
const WANTED = { missing: [{ resource: "cpu", amount: 1n }] };
const NOBODY = { reason: "UnexpectedAdmissionError", message: "nobody" };

interface Case {
  readonly fit?: FitVerdict;
  readonly rule?: typeof FORBIDDEN;
  readonly room?: typeof NOBODY | "undecided";
  readonly verdict: unknown;
  readonly did: readonly string[];
}

describe("the verdict on a pod", () => {
  it.each<[string, Case]>([
    ["fits and is allowed", { verdict: undefined, did: ["released u"] }],
    ["does not fit", { fit: NO_FIT, rule: FORBIDDEN, verdict: NO_FIT, did: ["released u"] }],
    ["is not allowed", { rule: FORBIDDEN, verdict: FORBIDDEN, did: ["released u"] }],
    ["cannot be judged yet", { fit: "undecided", rule: FORBIDDEN, verdict: "undecided", did: [] }],
    ["gets room", { fit: WANTED, room: "undecided", verdict: "undecided", did: ["made room"] }],
    ["cannot get room", { fit: WANTED, room: NOBODY, verdict: NOBODY, did: ["made room", "released u"] }],
    [
      "lacks room and is not allowed: nobody ends for it",
      { fit: WANTED, rule: FORBIDDEN, verdict: FORBIDDEN, did: ["released u"] },
    ],
  ])("%s", (_what, { fit, rule, room = "undecided", verdict, did }) => {
    const done: string[] = [];
    const admit = createPodAdmission({
      findMisfit: () => fit,
      rules: [() => undefined, () => rule],
      preemption: {
        makeRoom() {
          done.push("made room");
          return room;
        },
        release: (uid) => void done.push(`released ${uid}`),
      },
    });
    expect(admit(POD)).toEqual(verdict);
    expect(done).toEqual(did);
  });
});

it("tells of each refusal, and of nothing else", () => {
  const reasons: string[] = [];
  const verdicts: FitVerdict[] = [undefined, "undecided", NO_FIT];
  const admit = createPodAdmission({
    findMisfit: () => verdicts.shift(),
    rules: [],
    preemption: { makeRoom: () => NOBODY, release: () => undefined },
    onRejected: (reason) => reasons.push(reason),
  });
  for (let times = 0; times < 3; times++) admit(POD);
  expect(reasons).toEqual(["OutOfcpu"]);
});
