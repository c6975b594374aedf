import { isDeepStrictEqual } from "node:util";
import { parseYaml } from "../../../src/api/yaml.ts";
import { promise, type Target } from "../target.ts";
import { YAML_SEEDS, YAML_WORDS } from "./words.ts";

/** YAML as the API server and the readers of manifests take it; what was read reads again as the same from its JSON. */
export const yamlTarget: Target = {
  name: "yaml",
  runs: 1_600,
  seeds: YAML_SEEDS,
  words: YAML_WORDS,
  maxBytes: 4 * 1024,
  setUp: async () => ({
    run(input) {
      for (const { value, errors } of parseYaml(input.toString())) {
        if (errors.length > 0 || value === undefined) continue;
        const json = JSON.stringify(value, (_name, part) => (typeof part === "bigint" ? Number(part) : part));
        const [again] = parseYaml(json);
        if (again === undefined || again.errors.length > 0) continue;
        const plain: unknown = JSON.parse(json);
        const reread = JSON.parse(
          JSON.stringify(again.value, (_name, part) => (typeof part === "bigint" ? Number(part) : part)),
        );
        promise(isDeepStrictEqual(reread, plain), `its JSON reads as something else: ${json.slice(0, 200)}`);
      }
    },
  }),
};
