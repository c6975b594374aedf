import { plainValue } from "../../../src/control-plane/cel/plain-value.ts";
import { policyVariables } from "../../../src/control-plane/cel/policies/policy-types.ts";
import { compileExpression } from "../../../src/control-plane/cel/program.ts";
import { promise, type Target } from "../target.ts";
import { POD_OBJECT } from "./words.ts";

const SEEDS = [
  "object.spec.containers.all(c, c.image.startsWith('a') || c.name == 'x') && has(object.metadata.labels)",
  "object.metadata.name.matches('^(a+)+$') ? 'x'.replace('', 'yy').size() > 2 : [1, 2].exists_one(i, i > 1)",
  "lists.range(100).map(a, lists.range(100).filter(b, a * b % 7 == 0)).flatten().sum() + int('4') > 3",
  "{'a': 1, 'b': {'c': [1.5, 2e3]}}.transformMap(k, v, k + string(v)) == {} || object.?a[?'b'].orValue(2) == 2",
  "quantity('1Gi').isGreaterThan(quantity('5M')) && ip('fd00::1').isLoopback() && cidr('10.0.0.0/8').containsIP('1.2.3.4')",
  "timestamp('2024-02-29T23:00:00Z').getHours('Europe/Berlin') + duration('1h5m').getMinutes() > 3",
  "'%s %d %.3f %x'.format([object, dyn(1), dyn(2.5), dyn(b'ab')]).split(' ', 3).join(',').size() == 0x1fu",
  "sets.equivalent([1, 2], [2, 1]) && semver('1.2.3').isLessThan(semver('2.0.0')) && isURL('https://a:1/b?c=d')",
  "!(-1 < 2u) ? r'\\d' : b'\\xff\\101' + b'\\u00e9' // remark",
];
const WORDS = [
  ...[".all(x, ", ".exists(x, ", ".map(x, x, ", ".map(a, [a, a])", ".map(a, a + a)", ".sortBy(x, ", ".filter(i, "],
  ...[
    "lists.range(",
    "1000000",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615u",
    "1e308",
    "0.0",
  ],
  ...["object", "request.", "namespaceObject.", "optional.none()", ".?", "[?", "has(", "dyn(", "type(", "string("],
  ...[
    ".matches('",
    "(a*)*b",
    "{1,1000}",
    "'''",
    "\\u{1f600}",
    "😀",
    " in ",
    " && ",
    " || ",
    " ? ",
    " : ",
    "((((",
    "!!!!",
  ],
];

const VARIABLES = policyVariables({ params: true, authorizer: false });
const OBJECT = plainValue(POD_OBJECT);

/** Expressions of rules and policies: each compiles or not, and ends soon with the same result each time. */
export const expressionsTarget: Target = {
  name: "expressions",
  runs: 2_560,
  seeds: SEEDS,
  words: WORDS,
  maxBytes: 8 * 1024,
  setUp: async () => ({
    run(input) {
      const program = compileExpression(input.toString(), VARIABLES);
      if ("problem" in program) {
        promise(program.problem.startsWith("ERROR: <input>:"), `a problem without a place: ${program.problem}`);
        return;
      }
      const evaluate = () => program.evaluate((name) => (name === "object" ? OBJECT : undefined));
      const { outcome, cost } = evaluate();
      // Evaluating twice what was ended would take twice the time that one evaluation has.
      if (outcome === "exceeded" || cost > 10_000) return;
      const again = evaluate();
      promise(again.outcome === outcome && again.cost === cost, `${outcome} at ${cost}, then ${again.outcome}`);
    },
  }),
};
