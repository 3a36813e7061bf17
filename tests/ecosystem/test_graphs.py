"""Causal graphs and models of networkx, DoWhy, pgmpy and causal-learn."""

import sys

import numpy as np
import pandas as pd
import pytest

import surefoot as sf

networkx = pytest.importorskip("networkx")

COUNT = 400
EDGES = [("age", "income"), ("age", "savings"), ("income", "savings")]
GRAPH = {"income": ["age"], "savings": ["age", "income"]}


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    age = random.normal(40, 10, COUNT)
    income = 1000 + 50 * age + random.normal(0, 300, COUNT)
    savings = 2 * income - 10 * age + random.normal(0, 500, COUNT)
    return pd.DataFrame({"age": age, "income": income, "savings": savings})


def model_of(people, graph):
    model = sf.CausalModel.fit(sf.features(people), people, graph)
    assert {effect: sorted(causes) for effect, causes in model.graph.items()} == GRAPH
    return model


def test_networkx_there_and_back(people, tmp_path):
    graph = networkx.DiGraph(EDGES)
    model = model_of(people, graph)
    assert set(model.to_networkx().edges) == set(EDGES)
    with pytest.raises(sf.CausalModelError, match="not directed"):
        model_of(people, networkx.Graph(EDGES))
    # Files that networkx writes and reads.
    networkx.write_gml(graph, tmp_path / "graph.gml")
    model_of(people, tmp_path / "graph.gml")
    sf.write_graph(GRAPH, tmp_path / "ours.gml")
    assert set(networkx.read_gml(tmp_path / "ours.gml").edges) == set(EDGES)
    odd = {'a "b"; c': ["ä & ö", "x->y"]}
    sf.write_graph(odd, tmp_path / "odd.gml")
    assert set(networkx.read_gml(tmp_path / "odd.gml").edges) == {("ä & ö", 'a "b"; c'), ("x->y", 'a "b"; c')}
    for ending in ("gml", "dot"):
        sf.write_graph(odd, tmp_path / f"odd.{ending}")
        assert sf.read_graph(tmp_path / f"odd.{ending}") == odd


def test_dot_of_pydot(people, tmp_path):
    pytest.importorskip("pydot")
    graph = networkx.DiGraph([*EDGES, ("a b", "c-d")])
    networkx.nx_pydot.write_dot(graph, tmp_path / "graph.dot")
    read = sf.read_graph(tmp_path / "graph.dot")
    assert {(cause, effect) for effect, causes in read.items() for cause in causes} == set(graph.edges)
    sf.write_graph(read, tmp_path / "ours.dot")
    assert {(a.strip('"'), b.strip('"')) for a, b in networkx.nx_pydot.read_dot(tmp_path / "ours.dot").edges()} == set(graph.edges)


def test_a_causal_model_of_dowhy(people):
    dowhy = pytest.importorskip("dowhy")
    text = "digraph { age -> income; age -> savings; income -> savings; }"
    causal = dowhy.CausalModel(people, treatment="income", outcome="savings", graph=text)
    model_of(people, causal)
    # A noise of its own is no cause in common, and one in common is refused by name.
    own = dowhy.CausalModel(people, treatment="income", outcome="savings", graph=text.replace("}", "U -> savings; U[observed=no]; }"))
    assert "U" not in str(sf.CausalModel.fit(sf.features(people), people, own).graph)
    hidden = text.replace("}", "U -> savings; U -> income; U[observed=no]; }")
    shared = dowhy.CausalModel(people, treatment="income", outcome="savings", graph=hidden)
    with pytest.raises(sf.CausalModelError, match="`U` is not observed and causes income, savings"):
        sf.CausalModel.fit(sf.features(people), people, shared)


def test_mechanisms_of_gcm(people):
    gcm = pytest.importorskip("dowhy.gcm")
    from sklearn.neural_network import MLPRegressor

    features = sf.features(people)
    graph = networkx.DiGraph(EDGES)
    network = gcm.ml.SklearnRegressionModel(MLPRegressor(hidden_layer_sizes=(5,), activation="tanh", max_iter=300, random_state=0))
    for of_savings in (gcm.ml.create_linear_regressor(), network, gcm.ml.create_ridge_regressor()):
        theirs = gcm.InvertibleStructuralCausalModel(graph)
        theirs.set_causal_mechanism("age", gcm.EmpiricalDistribution())
        theirs.set_causal_mechanism("income", gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor()))
        theirs.set_causal_mechanism("savings", gcm.AdditiveNoiseModel(of_savings))
        gcm.fit(theirs, people)
        ours = sf.CausalModel.from_dowhy(features, theirs)
        assert ours.graph == GRAPH
        some = people.head(20)
        expected = gcm.counterfactual_samples(theirs, {"income": lambda x: x + 500.0}, observed_data=some)
        found = ours.counterfactual(some, shift={"income": 500.0})
        for name in people:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
        model_of(people, theirs)
    for refused in (gcm.ml.create_random_forest_regressor(), gcm.ml.create_polynom_regressor()):
        theirs.set_causal_mechanism("savings", gcm.AdditiveNoiseModel(refused))
        gcm.fit(theirs, people)
        with pytest.raises(sf.CausalModelError, match="the mechanism of `savings` is an AdditiveNoiseModel over"):
            sf.CausalModel.from_dowhy(features, theirs)
    with pytest.raises(sf.CausalModelError, match="`income` is in the causal model and no feature"):
        sf.CausalModel.from_dowhy([sf.Feature("age"), sf.Feature("savings")], theirs)
    with pytest.raises(sf.CausalModelError, match="is no model of dowhy.gcm"):
        sf.CausalModel.from_dowhy(features, graph)


def test_a_linear_gaussian_network_of_pgmpy(people):
    pytest.importorskip("pgmpy")
    from pgmpy.factors.continuous import LinearGaussianCPD
    from pgmpy.models import LinearGaussianBayesianNetwork

    network = LinearGaussianBayesianNetwork(EDGES)
    network.add_cpds(
        LinearGaussianCPD("age", [40.0], 10.0),
        LinearGaussianCPD("income", [1000.0, 50.0], 300.0, ["age"]),
        LinearGaussianCPD("savings", [7.0, 2.0, -10.0], 500.0, ["income", "age"]),
    )
    model = sf.CausalModel.from_pgmpy(sf.features(people), network)
    after = model.counterfactual(people, shift={"age": 10.0})
    np.testing.assert_allclose(after["income"] - people["income"], 500.0)
    np.testing.assert_allclose(after["savings"] - people["savings"], 2 * 500.0 - 100.0)
    model_of(people, network)
    with pytest.raises(sf.CausalModelError, match="`savings` is in the causal model"):
        sf.CausalModel.from_pgmpy([sf.Feature("age"), sf.Feature("income")], network)
    with pytest.raises(sf.CausalModelError, match="is no LinearGaussianBayesianNetwork"):
        sf.CausalModel.from_pgmpy(sf.features(people), networkx.DiGraph(EDGES))


def test_what_causal_learn_finds(people):
    pytest.importorskip("causallearn")
    from causallearn.search.ConstraintBased.PC import pc
    from causallearn.search.ScoreBased.GES import ges

    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 2000))
    c = a + b + 0.5 * random.normal(size=2000)
    d = c + 0.5 * random.normal(size=2000)
    rows, names = np.column_stack([a, b, c, d]), ["a", "b", "c", "d"]
    found = pc(rows, node_names=names, show_progress=False)
    expected = {"c": ["a", "b"], "d": ["c"]}
    assert sf.causal_graphs(found) == [expected] == sf.causal_graphs(found.G)
    assert sf.causal_graphs(ges(rows, node_names=names)) == [expected]
    features = sf.features(pd.DataFrame(rows, columns=names), change={"a": "any"})
    assert sf.CausalModel.fit(features, pd.DataFrame(rows, columns=names), found.G).graph == expected
    # A chain, whose directions data leave open.
    chain, chain_names = np.column_stack([a, c, d]), ["a", "c", "d"]
    graph = pc(chain, node_names=chain_names, show_progress=False).G
    frame = pd.DataFrame(chain, columns=chain_names)
    features = sf.features(frame, change={"a": "any", "c": "any"}, observed_limits=False)
    with pytest.raises(sf.CausalModelError, match="has no direction"):
        sf.CausalModel.fit(features, frame, graph)
    graphs = sf.causal_graphs(graph)
    assert sorted(map(str, graphs)) == sorted(
        map(str, [{"c": ["a"], "d": ["c"]}, {"a": ["c"], "d": ["c"]}, {"a": ["c"], "c": ["d"]}])
    )
    models = [sf.CausalModel.fit(features, frame, one) for one in graphs]
    classifier = sf.Classifier.linear([0.2, 0.5, 1.0], -0.5)
    others = {str(one): model for one, model in zip(graphs[1:], models[1:])}
    guarded = sf.Problem(features, classifier, models[0], alternatives=others, epsilon=0.05)
    person = frame[sf.Problem(features, classifier, epsilon=0.0).score(frame) < -0.5].head(1)
    answers = sf.recourse(guarded, person, proofs=True)
    assert answers[0].status == "found" and sf.verify(guarded, answers).holds
    # It holds whichever graph is right.
    for model in models:
        alone = sf.Problem(features, classifier, model, epsilon=0.05)
        assert sf.certify(alone, person, answers).column("verdict") == ["holds"]
        assert sf.recourse(alone, person)[0].cost <= answers[0].cost * 1.02


def every_graph(names, edges):
    """All acyclic directions of edges."""
    for bits in range(2 ** len(edges)):
        chosen = [edge if bits >> i & 1 else edge[::-1] for i, edge in enumerate(edges)]
        if networkx.is_directed_acyclic_graph(networkx.DiGraph(chosen)):
            yield chosen


def colliders(edges):
    graph = networkx.DiGraph(edges)
    joined = {frozenset(edge) for edge in edges}
    return {
        (frozenset((a, b)), effect)
        for effect in graph
        for a in graph.predecessors(effect)
        for b in graph.predecessors(effect)
        if a != b and frozenset((a, b)) not in joined
    }


@pytest.mark.parametrize("seed", range(20))
def test_equivalence_classes_are_complete(seed):
    random = np.random.default_rng(seed)
    names = list("abcde")
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :] if random.random() < 0.5]
    if not pairs:
        return
    alike = [edges for edges in every_graph(names, pairs) if colliders(edges) == colliders(pairs)]
    fixed = set.intersection(*(set(edges) for edges in alike))
    loose = [pair for pair in pairs if pair not in fixed and pair[::-1] not in fixed]
    found = sf.causal_graphs((sorted(fixed), loose))
    as_edges = {frozenset((c, e) for e, causes in one.items() for c in causes) for one in found}
    assert as_edges == {frozenset(edges) for edges in alike} and len(found) == len(alike)


def test_too_many_graphs_are_refused():
    edges = [(f"x{i}", f"x{j}") for j in range(7) for i in range(j)]
    with pytest.raises(sf.CausalModelError, match="more than 128"):
        sf.causal_graphs(([], edges))
    with pytest.raises(sf.CausalModelError, match="no graph without a cycle"):
        sf.causal_graphs(([("a", "b"), ("b", "c"), ("c", "a")], []))


def test_packages_are_not_imported_for_nothing():
    assert "surefoot" in sys.modules
    import subprocess

    code = "import sys, surefoot; print([m for m in ('networkx', 'sklearn', 'pandas', 'dowhy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
