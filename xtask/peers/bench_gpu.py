"""torch on a card, for `magnon-bench gpu`: a request a line, an answer a line.

A training step is what ours is: forward and backward of the training rows, a step of Adam, and the
forward pass of the validation rows with its loss. Only sizes matter for its time, so the numbers are
random.
"""

import json
import sys
import time

import numpy as np
import torch

DEVICE = torch.device("cuda")
state = {}


def versions(_):
    return {"torch": torch.__version__}


def load(request):
    with np.load(request["path"]) as file:
        parts = [torch.from_numpy(file[key]).to(DEVICE) for key in ("indptr", "indices", "data")]
        nodes = int(file["shape"][0])
    offsets, columns, values = parts
    matrix = torch.sparse_csr_tensor(
        offsets.to(torch.int32), columns.to(torch.int32), values.to(torch.complex64), (nodes, nodes)
    )
    x = torch.randn(nodes, request["columns"], dtype=torch.complex64, device=DEVICE)
    state.update(matrix=matrix, x=x)
    return {}


def timed(work, times):
    work()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        work()
    torch.cuda.synchronize()
    return {"seconds": (time.perf_counter() - start) / times}


def product(request):
    matrix, x = state["matrix"], state["x"]
    return timed(lambda: matrix @ x, request["times"])


def loop(request):
    matrix, x, order = state["matrix"], state["x"], request["order"]

    def horner():
        y = x * (2 / ((order + 1) * (order + 2)))
        for k in reversed(range(order)):
            y = torch.addmm(x, matrix, y, beta=2 * (order - k + 1) / ((order + 1) * (order + 2)))
        return y

    return timed(horner, request["times"])


def load_step(request):
    torch.manual_seed(0)
    hidden, classes, columns = request["hidden"], request["classes"], request["columns"]
    parts = [
        torch.randn(request[part], columns, dtype=torch.complex64, device=DEVICE) / columns**0.5
        for part in ("train", "val")
    ]
    labels = [torch.randint(classes, (len(part),), device=DEVICE) for part in parts]
    weights = [
        torch.randn(columns, hidden, dtype=torch.complex64, device=DEVICE) / columns**0.5,
        torch.zeros(hidden, dtype=torch.complex64, device=DEVICE),
        torch.randn(hidden, classes, device=DEVICE) / hidden**0.5,
        torch.zeros(classes, device=DEVICE),
    ]
    for weight in weights:
        weight.requires_grad_(True)
    # A graph needs the step count on the card; complex weights as pairs of real ones inside.
    adam = torch.optim.Adam(
        weights, lr=request["rate"], weight_decay=request["weight_decay"], capturable=True
    )
    dropout = request["dropout"]

    def logits(x, training):
        z = x @ weights[0] + weights[1]
        h = torch.tanh(z.real) * torch.tanh(z.imag)
        h = torch.nn.functional.dropout(h, dropout, training)
        return h @ weights[2] + weights[3]

    def step():
        adam.zero_grad(set_to_none=False)
        loss = torch.nn.functional.cross_entropy(logits(parts[0], True), labels[0])
        loss.backward()
        adam.step()
        with torch.no_grad():
            return torch.nn.functional.cross_entropy(logits(parts[1], False), labels[1])

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    state.update(step=step, graph=graph)
    return {}


def step(request):
    return timed(state["graph"].replay if request["graph"] else state["step"], request["times"])


TASKS = {task.__name__: task for task in (versions, load, product, loop, load_step, step)}

for line in sys.stdin:
    request = json.loads(line)
    if request["task"] == "quit":
        break
    try:
        answer = TASKS[request["task"]](request)
    except Exception as error:  # the other side says what it asked for
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
