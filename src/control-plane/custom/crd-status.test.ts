import { describe, expect, test } from "vitest";
import type { CustomResourceDefinition } from "../../api/gen/types.ts";
import { createCrd, cronTabManifest, establishCrd, NOW } from "./__fixtures__/cron-tab.ts";
import { computeCrdStatus, markCrdDeleted, planCrdDeletion } from "./crd-status.ts";

const TIME = "2026-01-02T03:04:05Z";

function crdOf(plural: string, names: Record<string, unknown> = {}) {
  const kind = plural.replace(/s$/, "");
  return {
    ...cronTabManifest({}, { names: { plural, kind, ...names } }),
    metadata: { name: `${plural}.stable.example.com` },
  };
}

const reasons = ({ status }: CustomResourceDefinition) =>
  status?.conditions?.map(
    (condition) => `${condition.type}=${condition.status} ${condition.reason}: ${condition.message}`,
  );

describe("the status of a CRD", () => {
  test("accepts names that nobody has, and establishes the kind", () => {
    const crd = establishCrd(cronTabManifest());
    expect(crd.status).toEqual({
      acceptedNames: {
        plural: "crontabs",
        singular: "crontab",
        kind: "CronTab",
        listKind: "CronTabList",
        shortNames: ["ct"],
        categories: ["all"],
      },
      conditions: [
        {
          type: "NamesAccepted",
          status: "True",
          reason: "NoConflicts",
          message: "no conflicts found",
          lastTransitionTime: TIME,
        },
        {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
          lastTransitionTime: TIME,
        },
      ],
      storedVersions: ["v1"],
    });
  });

  test.each([
    ["https://example.com/review/1", "True", "ApprovedAnnotation", "approved in https://example.com/review/1"],
    ["unapproved, an experiment", "False", "UnapprovedAnnotation", 'not approved: "unapproved, an experiment"'],
    ["mailto:someone", "False", "InvalidAnnotation", expect.stringContaining("with either a URL or a reason")],
    ["", "False", "MissingAnnotation", expect.stringContaining("must have approval annotation")],
  ])("tells of a group of the project whether it was approved: %s", (approval, status, reason, message) => {
    const manifest = cronTabManifest({}, { group: "x.k8s.io" });
    const annotations = { "api-approved.kubernetes.io": approval };
    const crd = establishCrd({ ...manifest, metadata: { name: "crontabs.x.k8s.io", annotations } });
    const type = "KubernetesAPIApprovalPolicyConformant";
    expect(crd.status?.conditions).toContainEqual({ type, status, reason, message, lastTransitionTime: TIME });
  });

  test("is the same object when nothing changes, later too", () => {
    const crd = establishCrd(cronTabManifest());
    expect(computeCrdStatus(crd, [crd], NOW + 1_000)).toBe(crd.status);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["kind", { kind: "CronTab", listKind: "TabList" }, 'KindConflict: "CronTab" is already in use'],
    ["short name", { shortNames: ["ct", "tb"] }, 'ShortNamesConflict: "ct" is already in use'],
    ["singular", { singular: "crontabs" }, 'SingularConflict: "crontabs" is already in use'],
    ["list kind", { listKind: "CronTabList" }, 'ListKindConflict: "CronTabList" is already in use'],
  ])("does not establish a kind whose %s another has", (_, names, problem) => {
    const first = establishCrd(cronTabManifest());
    const second = createCrd(crdOf("tabs", names));
    const status = computeCrdStatus(second, [first, second], NOW);
    expect(reasons({ ...second, status })).toEqual([
      `NamesAccepted=False ${problem}`,
      "Established=False NotAccepted: not all names are accepted",
    ]);
  });

  test("gives a name away once its owner is gone", () => {
    const first = establishCrd(cronTabManifest());
    const second = createCrd(crdOf("tabs", { kind: "CronTab" }));
    const refused = { ...second, status: computeCrdStatus(second, [first], NOW) };
    const accepted = computeCrdStatus(refused, [], NOW + 5_000);
    expect(reasons({ ...second, status: accepted })).toEqual([
      "NamesAccepted=True NoConflicts: no conflicts found",
      "Established=True InitialNamesAccepted: the initial names have been accepted",
    ]);
    expect(accepted.conditions?.[0]?.lastTransitionTime).toBe("2026-01-02T03:04:10Z");
  });

  test("keeps an established kind served when its new names conflict, under the old ones", () => {
    const first = establishCrd(cronTabManifest());
    const second = establishCrd(crdOf("tabs"));
    const renamed = { ...second, spec: { ...second.spec, names: { ...second.spec.names, shortNames: ["ct"] } } };
    const status = computeCrdStatus(renamed, [first, renamed], NOW);
    expect(reasons({ ...renamed, status })?.map((text) => text.split(" ")[0])).toEqual([
      "NamesAccepted=False",
      "Established=True",
    ]);
    expect(status.acceptedNames?.shortNames).toBeUndefined();
  });

  test("does not mind the names of other groups", () => {
    const first = establishCrd(cronTabManifest());
    const other = {
      ...createCrd(cronTabManifest({}, { group: "other.example.com" })),
      metadata: { name: "crontabs.other.example.com" },
    };
    expect(computeCrdStatus(other, [first], NOW).conditions?.[0]?.status).toBe("True");
  });
});

describe("deletion", () => {
  const crd = establishCrd(cronTabManifest());
  const deleted = markCrdDeleted(crd, NOW);

  test("waits, marked, for the objects of the kind", () => {
    expect(deleted.metadata).toMatchObject({
      deletionTimestamp: TIME,
      finalizers: ["customresourcecleanup.apiextensions.k8s.io"],
    });
    const plan = planCrdDeletion(deleted, 2, NOW);
    if (plan.step !== "delete-instances") throw new Error(plan.step);
    expect(reasons({ ...deleted, status: plan.status })?.at(-1)).toBe(
      "Terminating=True InstanceDeletionInProgress: CustomResource deletion is in progress",
    );
    const again = planCrdDeletion({ ...deleted, status: plan.status }, 1, NOW + 9_000);
    expect(again).toEqual({ step: "delete-instances", status: plan.status });
  });

  test("ends when they are gone", () => {
    const plan = planCrdDeletion(deleted, 0, NOW);
    if (plan.step !== "finalize") throw new Error(plan.step);
    expect(plan.crd.metadata?.finalizers).toEqual([]);
    expect(reasons(plan.crd)?.at(-1)).toBe("Terminating=False InstanceDeletionCompleted: removed all instances");
    expect(planCrdDeletion(plan.crd, 0, NOW)).toEqual({ step: "none" });
  });

  test("asks nothing of a CRD that never was established, or is not being deleted", () => {
    expect(planCrdDeletion(crd, 3, NOW)).toEqual({ step: "none" });
    const plan = planCrdDeletion(markCrdDeleted(createCrd(cronTabManifest()), NOW), 0, NOW);
    expect(plan.step === "finalize" && reasons(plan.crd)).toEqual([
      "Terminating=False NeverEstablished: resource was never established",
    ]);
  });
});
