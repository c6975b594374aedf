import { applyJsonPatch } from "../../../src/api/patch/json-patch.ts";
import { applyMergePatch } from "../../../src/api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../../src/api/patch/strategic-merge.ts";
import { servedNode } from "../../../src/api/schema-node.ts";
import { promise, type Target } from "../target.ts";
import { refused } from "./expected.ts";
import { jsonOf, PART, partsOf } from "./parts.ts";
import { JSON_WORDS, POD_OBJECT } from "./words.ts";

const POD = JSON.stringify(POD_OBJECT);
const PATCHES = [
  [
    { op: "test", path: "/kind", value: "Pod" },
    { op: "add", path: "/spec/containers/-", value: { name: "b" } },
  ],
  [
    { op: "move", from: "/spec/containers/0", path: "/metadata/labels/a~1b" },
    { op: "copy", from: "", path: "/x" },
  ],
  [
    { op: "replace", path: "/spec/containers/-1/image", value: null },
    { op: "remove", path: "/metadata" },
  ],
  { metadata: { labels: { app: null, b: "c" } }, spec: { containers: null } },
  {
    spec: {
      containers: [
        { name: "c", $patch: "delete" },
        { name: "d", env: [{ name: "A", value: "2" }] },
      ],
    },
  },
  { spec: { "$setElementOrder/containers": [{ name: "c" }, { name: "d" }], containers: [{ name: "d" }] } },
  { spec: { $retainKeys: ["containers"], tolerations: [{ $patch: "replace" }] } },
  { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["b"] } },
];
const WORDS = [
  ...['{"op":"add","path":"/a/-","value":1},', '"copy"', '"move"', '"test"', "~0", "~1", "/-", "/-1", "/0", '"from":'],
  ...['"$patch":"delete"', '"$patch":"replace"', '"$patch":"merge"', '"$retainKeys":[', '"$setElementOrder/'],
  ...['"$deleteFromPrimitiveList/', '"mergeKey"', '"containerPort":80', '"ports":[', '"protocol":"TCP"', '"name":"c"'],
];

/** Patches of all three kinds on any document; the document that they are laid over stays as it is. */
export const patchesTarget: Target = {
  name: "patches",
  runs: 8_192,
  seeds: PATCHES.map((patch) => `${POD}${PART}${JSON.stringify(patch)}`),
  words: [...WORDS, ...JSON_WORDS],
  setUp: async () => {
    const node = servedNode("Pod");
    return {
      run(input) {
        const [text, patchText] = partsOf(input, 2);
        const document = jsonOf(text);
        const patch = jsonOf(patchText);
        const before = JSON.stringify(document);
        const results = [
          refused(() => applyJsonPatch(document, patch)),
          refused(() => applyMergePatch(document, patch)),
          refused(() => applyStrategicMergePatch(document, patch, node)),
        ];
        for (const result of results) JSON.stringify(result);
        promise(JSON.stringify(document) === before, "the patch changed the document that it was laid over");
      },
    };
  },
};
