"""Whether an installed wheel works in an environment that has nothing else: no compiler, no checkout."""

import subprocess
import sys
import tempfile
import time

start = time.process_time()
import surefoot as sf  # noqa: E402

imported = time.process_time() - start

features = [
    sf.Feature("income", "increase", mean=3000, std=1500),
    sf.Feature("savings", "increase", mean=8000, std=4000),
]
causal_model = sf.CausalModel(features, {"savings": "2 * income + u"})
problem = sf.Problem(features, sf.Classifier.linear([0.8, 0.6], -0.5), causal_model, epsilon=0.1)
answers = sf.recourse(problem, {"income": 2400, "savings": 6000})
assert str(answers[0]).startswith("Raise income by 1511"), answers[0]
assert sf.verify(problem, answers).holds
assert answers[0].plot().svg.startswith("<svg")
with tempfile.TemporaryDirectory() as folder:
    problem.write(f"{folder}/problem.toml")
    assert sf.run("validate", f"{folder}/problem.toml").holds
version = subprocess.run([sys.executable, "-m", "surefoot", "--version"], capture_output=True, text=True, check=True)
assert sf.__version__ in version.stdout
print(f"surefoot {sf.__version__} works; importing it took {imported * 1000:.0f} ms of processor time")
