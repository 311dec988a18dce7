"""Reinforcement learning: networks that are copied into others, and losses of fed rewards."""

import tensorflow as tf

from kinds.registry import Part, kind

v1 = tf.compat.v1


@kind(tuned=False)
def deep_q(part: Part) -> object:
    """An evaluation network that trains, a target network that copies it, hard and soft."""

    def network(x: tf.Tensor, scope: str, kept: str) -> tf.Tensor:
        hidden = v1.nn.relu(part.dense(x, 10, f"{scope}/hidden", kept=kept))
        return part.dense(hidden, 4, f"{scope}/q", kept=kept)

    with part("inference"):
        q_now = network(v1.placeholder(tf.float32, [None, 6]), "now", "inference")
    with part("training_forward"):
        q_next = network(v1.placeholder(tf.float32, [None, 6]), "target", "training_forward")
    with part("loss"):
        action = v1.placeholder(tf.int32, [None])
        reward = v1.placeholder(tf.float32, [None])
        wanted = v1.stop_gradient(reward + 0.9 * v1.reduce_max(q_next, 1))
        taken = v1.reduce_sum(q_now * v1.one_hot(action, 4), 1)
        loss = v1.reduce_mean(v1.squared_difference(wanted, taken))
    part.minimize(v1.train.RMSPropOptimizer(0.01), loss, variables=v1.trainable_variables("now"))
    pairs = list(zip(v1.trainable_variables("target"), v1.trainable_variables("now"), strict=True))
    with part("moving_average"):
        for target, source in pairs:
            v1.assign(target, source)
        v1.group(*(v1.assign(target, 0.01 * source + 0.99 * target) for target, source in pairs))
    part.close(loss)
    return q_now


@kind(tuned=True)
def actor_critic(part: Part) -> object:
    """PPO: a policy, its older copy, a critic with its own optimizer; clipped ratios, entropy, fed advantages."""

    def policy(x: tf.Tensor, scope: str, kept: str, trainable: bool) -> tf.Tensor:
        hidden = v1.nn.tanh(part.dense(x, 16, f"{scope}/hidden", kept=kept, trainable=trainable))
        return v1.nn.softmax(part.dense(hidden, 3, f"{scope}/act", kept=kept, trainable=trainable))

    with part("inference"):
        state = v1.placeholder(tf.float32, [None, 5])
        act = policy(state, "now", "inference", True)
    with part("training_forward"):
        old = policy(state, "old", "training_forward", False)
        hidden = v1.nn.relu(part.dense(state, 16, "critic/hidden", kept="training_forward"))
        value = part.dense(hidden, 1, "critic/value", kept="training_forward")
    with part("loss"):
        discounted = v1.placeholder(tf.float32, [None, 1])
        advantage = discounted - value
        critic_loss = v1.reduce_mean(v1.square(advantage))
        action = v1.placeholder(tf.int32, [None])
        fed = v1.placeholder(tf.float32, [None, 1])
        chosen = v1.one_hot(action, 3)
        ratio = v1.reduce_sum(act * chosen, 1) / (v1.reduce_sum(old * chosen, 1) + 1e-5)
        surrogate = v1.expand_dims(ratio, 1) * fed
        clipped = v1.clip_by_value(v1.expand_dims(ratio, 1), 0.8, 1.2) * fed
        entropy = -v1.reduce_sum(act * v1.log(act + 1e-5), 1, keepdims=True)
        actor_loss = -v1.reduce_mean(v1.minimum(surrogate, clipped) + 0.01 * entropy)
    with part("moving_average"):
        pairs = zip(v1.global_variables("old"), v1.global_variables("now"), strict=True)
        v1.group(*(v1.assign(older, newer) for older, newer in pairs))
    for scope, loss in (("critic", critic_loss), ("now", actor_loss)):
        part.minimize(v1.train.AdamOptimizer(1e-3, name=f"Adam_{scope}"), loss, variables=v1.trainable_variables(scope))
    part.close(critic_loss, actor_loss)
    return act


@kind(tuned=True)
def action_gradients(part: Part) -> object:
    """DDPG: the actor follows the critic's gradient of its action; both have slowly moving copies."""

    def actor(x: tf.Tensor, scope: str, kept: str) -> tf.Tensor:
        hidden = v1.nn.relu(part.dense(x, 16, f"{scope}/hidden", kept=kept))
        return v1.nn.tanh(part.dense(hidden, 2, f"{scope}/action", kept=kept)) * 2.0

    def critic(x: tf.Tensor, action: tf.Tensor, scope: str) -> tf.Tensor:
        hidden = v1.nn.relu(part.dense(v1.concat([x, action], 1), 16, f"{scope}/hidden", kept="training_forward"))
        return part.dense(hidden, 1, f"{scope}/q", kept="training_forward")

    with part("inference"):
        state = v1.placeholder(tf.float32, [None, 5])
        action = actor(state, "actor", "inference")
    with part("training_forward"):
        following = v1.placeholder(tf.float32, [None, 5])
        later = actor(following, "actor_target", "training_forward")
        q = critic(state, action, "critic")
        q_later = critic(following, later, "critic_target")
    with part("loss"):
        reward = v1.placeholder(tf.float32, [None, 1])
        critic_loss = v1.reduce_mean(v1.squared_difference(v1.stop_gradient(reward + 0.9 * q_later), q))
    part.minimize(
        v1.train.AdamOptimizer(2e-3, name="Adam_critic"), critic_loss, variables=v1.trainable_variables("critic/")
    )
    trained = v1.trainable_variables("actor/")
    with part("gradient"):
        slope = v1.gradients(q, action)[0]
        gradients = v1.gradients(action, trained, -slope)
    with part("optimizer"):
        v1.train.AdamOptimizer(1e-3, name="Adam_actor").apply_gradients(zip(gradients, trained, strict=True))
    with part("moving_average"):
        for scope in ("actor", "critic"):
            pairs = zip(v1.trainable_variables(f"{scope}_target/"), v1.trainable_variables(f"{scope}/"), strict=True)
            v1.group(*(v1.assign(target, 0.01 * source + 0.99 * target) for target, source in pairs))
    part.close(critic_loss)
    return action


@kind(tuned=False)
def policy_gradient(part: Part) -> object:
    """REINFORCE: fed actions and discounted rewards, a normalised advantage, an action that is drawn."""
    with part("inference"):
        state = v1.placeholder(tf.float32, [None, 4])
        logits = part.dense(v1.nn.tanh(part.dense(state, 10, "hidden")), 2, "act")
        probabilities = v1.nn.softmax(logits)
    with part("training_forward"):
        v1.squeeze(v1.multinomial(logits, 1), [1])
    with part("loss"):
        actions = v1.placeholder(tf.int32, [None])
        rewards = v1.placeholder(tf.float32, [None])
        mean, variance = v1.nn.moments(rewards, [0])
        advantage = (rewards - mean) / v1.sqrt(variance + 1e-6)
        chosen = v1.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=actions)
        loss = v1.reduce_mean(chosen * advantage)
    part.minimize(v1.train.AdamOptimizer(0.02), loss)
    part.close(loss)
    return probabilities
