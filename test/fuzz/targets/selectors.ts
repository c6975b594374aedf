import { parseFieldSelector } from "../../../src/api/selectors/field-selector.ts";
import { parseLabelSelector } from "../../../src/api/selectors/label-selector.ts";
import { evaluateJsonPath, parseJsonPath } from "../../../src/control-plane/custom/json-path.ts";
import { promise, type Target } from "../target.ts";
import { refused } from "./expected.ts";
import { POD_OBJECT } from "./words.ts";

const LABELS = { app: "a", tier: "", "a.b/c": "1" };

/** Selectors of labels and fields, and paths of columns: what is printed of one reads as the same again. */
export const selectorsTarget: Target = {
  name: "selectors",
  runs: 6_144,
  seeds: [
    ...["app=a,tier!=b", "app in (a, b),!tier", "a.b/c notin (1,2),x", "n>1,n<5", "a==b,  c"],
    ...["metadata.name=a,spec.nodeName!=", "a\\,b=c\\=d\\\\", "status.phase==Running"],
    ...[".spec.containers[0].image", '.metadata.labels["a.b/c"]', ".spec['a'][*].b", "..name", "{.a[-1:]}"],
  ],
  words: [" in (", " notin (", ")", "(", ",", "!", "=", "==", "!=", ">", "<", "\\", "a.b/c", "[*]", "['", "..", "[-1]"],
  setUp: async () => ({
    run(input) {
      const text = input.toString();
      const labels = refused(() => parseLabelSelector(text));
      if (labels !== undefined) {
        const again = parseLabelSelector(labels.toString());
        promise(again.toString() === labels.toString(), `${labels} reads as ${again}`);
        promise(again.matches(LABELS) === labels.matches(LABELS), `${labels} matches something else than ${text}`);
      }
      const fields = refused(() => parseFieldSelector(text));
      if (fields !== undefined) {
        const again = parseFieldSelector(fields.toString());
        promise(again.toString() === fields.toString(), `${fields} reads as ${again}`);
      }
      const path = refused(() => parseJsonPath(text));
      if (path !== undefined) evaluateJsonPath(path, POD_OBJECT);
    },
  }),
};
